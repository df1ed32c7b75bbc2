import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scalingDown } from './scaling.ts';
import { aCluster, orders, secondsAgo, writtenSet } from './testing.ts';

test('up: the replicas follow once every member is ONLINE', () => {
  const { verdict } = aCluster({ size: 5 }).replicas(3).online().decide();
  assert.equal(verdict.state, 'ScalingUp');
  assert.equal(writtenSet(verdict)?.spec?.replicas, 5);
  assert.deepEqual(orders(verdict), []);
});

test('up: waits while a member is still joining', () => {
  const cluster = aCluster({ size: 5 }).replicas(3).inView('v', [0, 1], { primary: 0 }).offline(2);
  assert.equal(writtenSet(cluster.decide().verdict), undefined);
});

test('down: a primary that is to go hands over to the lowest member, or to the preferred one', () => {
  const cluster = aCluster({ size: 2 }).replicas(3).online(2);
  const { verdict } = cluster.decide();
  assert.equal(verdict.state, 'ScalingDown');
  assert.deepEqual(orders(verdict), ['setPrimary db-0 via db-2']);
  assert.deepEqual(orders(cluster.spec({ primary: 1 }).decide().verdict), ['setPrimary db-1 via db-2']);
});

test('down: members leave the group one at a time, the highest first', () => {
  const first = aCluster({ size: 1 }).replicas(3).online().decide().verdict;
  assert.deepEqual(orders(first), ['leave db-2']);
  assert.equal(writtenSet(first), undefined);
  const second = aCluster({ size: 1 }).replicas(3).inView('v', [0, 1], { primary: 0 }).offline(2).decide();
  assert.deepEqual(orders(second.verdict), ['leave db-1']);
  assert.equal(writtenSet(second.verdict), undefined);
});

test('down: the replicas follow when the group lists none of them any more, and they do not join again', () => {
  const cluster = aCluster({ size: 1 }).replicas(3).inView('v', [0], { primary: 0 }).offline(1).offline(2);
  const { verdict } = cluster.decide();
  assert.equal(verdict.state, 'ScalingDown');
  assert.equal(writtenSet(verdict)?.spec?.replicas, 1);
  assert.deepEqual(orders(verdict), []);
});

test('down: a member that the group still lists is waited for, even when it does not answer', () => {
  const cluster = aCluster({ size: 2 })
    .replicas(3)
    .inView('v', [0, 1], { primary: 0, sees: { 2: 'UNREACHABLE' } })
    .silent(2);
  const { verdict } = cluster.decide();
  assert.equal(verdict.state, 'ScalingDown');
  assert.deepEqual(orders(verdict), []);
  assert.equal(writtenSet(verdict), undefined);
});

test('down: a member that is out already by its own word is given no order, only time to be expelled', () => {
  const { verdict } = aCluster({ size: 2 }).replicas(3).online().offline(2).decide();
  assert.equal(verdict.state, 'ScalingDown');
  assert.deepEqual(orders(verdict), []);
  assert.equal(writtenSet(verdict), undefined);
});

test('down: without a group nobody goes, whichever rule is asked first', () => {
  const { facts } = aCluster({ size: 1 }).replicas(3).offline(0).offline(1).offline(2).decide();
  assert.equal(scalingDown(facts), undefined);
});

test('down: a member that never got to run goes at once', () => {
  const cluster = aCluster({ size: 3 }).replicas(5).inView('v', [0, 1, 2], { primary: 0 });
  const { verdict } = cluster.pod(3, { unscheduled: 'full' }).withoutPod(4).decide();
  assert.equal(writtenSet(verdict)?.spec?.replicas, 3);
});

test('down: waits while a member that stays is not ONLINE', () => {
  const cluster = aCluster({ size: 2 }).replicas(3).inView('v', [0, 2], { primary: 0 }).offline(1);
  const { verdict } = cluster.decide();
  assert.equal(verdict.state, 'Joining');
  assert.deepEqual(orders(verdict), ['join db-1 to db-0, db-2']);
  assert.equal(writtenSet(verdict), undefined);
});

test('up before there ever was a group: the new members come at once, also while a pod cannot run', () => {
  const { verdict } = aCluster({ size: 3 }).replicas(1).pod(0, { unscheduled: 'full' }).decide();
  assert.equal(verdict.state, 'ScalingUp');
  assert.equal(writtenSet(verdict)?.spec?.replicas, 3);
});

test('down before there ever was a group: only members without a history go', () => {
  const young = aCluster({ size: 1 })
    .replicas(3)
    .pod(1, { unscheduled: 'full' })
    .pod(2, { unscheduled: 'full' });
  const { verdict } = young.decide();
  assert.equal(verdict.state, 'ScalingDown');
  assert.equal(writtenSet(verdict)?.spec?.replicas, 1);
  assert.equal(writtenSet(young.claims(1).decide().verdict)?.spec?.replicas, 1, 'no volume, no history');
  const kept = young.claims(3, secondsAgo(86_400));
  assert.equal(kept.decide().verdict.state, 'WaitingForPods');
  assert.equal(writtenSet(kept.decide().verdict), undefined);
});

test('down before there is a group again: nobody goes', () => {
  const cluster = aCluster({ size: 1 }).replicas(3).bootstrapped().silent(2);
  assert.equal(writtenSet(cluster.decide().verdict), undefined);
});
