import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCluster, gtids, orders, ownGtids } from './testing.ts';

test('a member that is RECOVERING is named and waited for', () => {
  const { verdict } = aCluster()
    .inView('v', [0, 1, 2], { primary: 0, sees: { 2: 'RECOVERING' } })
    .decide();
  assert.equal(verdict.state, 'Joining');
  assert.match(verdict.message, /db-2 is RECOVERING/);
  assert.deepEqual(orders(verdict), []);
  assert.equal(verdict.transitional, true);
});

test('a group without a primary is waited for', () => {
  const { verdict } = aCluster().inView('v', [0, 1, 2]).decide();
  assert.equal(verdict.state, 'Joining');
  assert.match(verdict.message, /elect a primary/);
  assert.equal(verdict.transitional, true);
});

test('nothing is disturbed beside a member that does not answer, though the group lists it as ONLINE', () => {
  const { verdict } = aCluster({ primary: 1 }).online().pod(1, { outdated: true }).silent(2).decide();
  assert.equal(verdict.state, 'Joining');
  assert.deepEqual(verdict.actions, []);
});

test('nothing is disturbed beside a member whose pod is on its way out', () => {
  const { verdict } = aCluster({ primary: 1 })
    .online()
    .pod(2, { deleting: true })
    .pod(1, { outdated: true })
    .decide();
  assert.equal(verdict.state, 'Joining');
  assert.match(verdict.message, /db-2 is being deleted/);
  assert.deepEqual(verdict.actions, []);
});

test('a woken member that believes in its old group is called back', () => {
  const woken = aCluster().inView('old', [0, 1, 2], { primary: 0 }).inView('new', [1, 2], { primary: 1 });
  const { facts, verdict } = woken.decide();
  assert.equal(facts.primary?.name, 'db-1');
  assert.equal(verdict.state, 'Joining');
  assert.deepEqual(orders(verdict), ['leave db-0']);
});

test('the members of a rival group are called back one by one before their transactions are judged', () => {
  const split = aCluster({ size: 5 })
    .inView('a', [2, 3, 4], { primary: 2 })
    .inView('b', [0, 1], { primary: 0, executed: `${gtids('1-9')},${ownGtids(0, '1')}` });
  assert.deepEqual(orders(split.decide().verdict), ['leave db-0']);
  const oneLeft = split.offline(0, `${gtids('1-9')},${ownGtids(0, '1')}`);
  assert.deepEqual(orders(oneLeft.decide().verdict), ['leave db-1']);
  assert.equal(oneLeft.offline(1, gtids('1-9')).decide().verdict.state, 'Errant');
});

test('a joiner that knows the new view before we hear of it from the others is not called back', () => {
  const ahead = aCluster()
    .inView('view:1', [0, 1], { primary: 0 })
    .inView('view:2', [2], { primary: 0, sees: { 0: 'ONLINE', 1: 'ONLINE', 2: 'RECOVERING' } });
  const { verdict } = ahead.decide();
  assert.equal(verdict.state, 'Joining');
  assert.deepEqual(orders(verdict), []);
});
