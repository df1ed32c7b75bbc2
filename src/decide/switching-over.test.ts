import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCluster, orders, uuidOf } from './testing.ts';

test('the preferred member becomes the primary, by an order through the current one', () => {
  const { verdict } = aCluster({ primary: 2 }).online().decide();
  assert.equal(verdict.state, 'SwitchingOver');
  assert.deepEqual(orders(verdict), ['setPrimary db-2 via db-0']);
  const [order] = verdict.actions;
  assert.equal(order?.do === 'setPrimary' && order.uuid, uuidOf(2));
  assert.equal(verdict.transitional, true);
});

test('nothing is switched when it is the primary already, or when nobody is preferred', () => {
  assert.equal(aCluster({ primary: 0 }).online().decide().verdict.state, 'Healthy');
  assert.equal(aCluster().online(2).decide().verdict.state, 'Healthy');
});

test('it waits until the preferred member is ONLINE', () => {
  const cluster = aCluster({ primary: 2 }).inView('v', [0, 1, 2], { primary: 0, sees: { 2: 'RECOVERING' } });
  assert.deepEqual(orders(cluster.decide().verdict), []);
});

test('a rollout comes first, so that the primary moves no more often than it must', () => {
  const cluster = aCluster({ primary: 2 }).online().pod(2, { outdated: true });
  assert.deepEqual(orders(cluster.decide().verdict), ['delete Pod/db-2']);
});
