import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCluster, orders } from './testing.ts';

const outdated = (...ordinals: readonly number[]) => {
  const cluster = aCluster().online();
  for (const ordinal of ordinals) cluster.pod(ordinal, { outdated: true });
  return cluster;
};

test('secondaries go first, one at a time', () => {
  const { verdict } = outdated(0, 1, 2).decide();
  assert.equal(verdict.state, 'RollingOut');
  assert.deepEqual(orders(verdict), ['delete Pod/db-2']);
  assert.deepEqual(orders(outdated(0, 1).decide().verdict), ['delete Pod/db-1']);
});

test('the primary is handed over to a member that is up to date, the preferred one if it can be', () => {
  assert.deepEqual(orders(outdated(0).decide().verdict), ['setPrimary db-1 via db-0']);
  assert.deepEqual(orders(outdated(0).spec({ primary: 2 }).decide().verdict), ['setPrimary db-2 via db-0']);
});

test('after the switchover the old primary goes like any secondary', () => {
  const cluster = aCluster().online(1).pod(0, { outdated: true });
  assert.deepEqual(orders(cluster.decide().verdict), ['delete Pod/db-0']);
});

test('the only member of a cluster of one is just replaced', () => {
  const { verdict } = aCluster({ size: 1 }).online().pod(0, { outdated: true }).decide();
  assert.deepEqual(orders(verdict), ['delete Pod/db-0']);
});

test('nobody goes while another one is not ONLINE', () => {
  const cluster = outdated(0, 1).inView('v', [0, 1, 2], { primary: 0, sees: { 2: 'RECOVERING' } });
  assert.equal(cluster.decide().verdict.state, 'Joining');
  assert.deepEqual(orders(cluster.decide().verdict), []);
});

test('while the new image is bad only the first member is disturbed', () => {
  const cluster = outdated(0, 1).inView('v', [0, 1], { primary: 0 }).pod(2, { waiting: 'ImagePullBackOff' });
  const { verdict } = cluster.decide();
  assert.equal(verdict.state, 'WaitingForPods');
  assert.deepEqual(orders(verdict), []);
});

test('an outdated pod that does not serve is replaced at once, so that a corrected image heals without hands', () => {
  const cluster = aCluster()
    .inView('v', [0, 1], { primary: 0 })
    .pod(2, { waiting: 'ErrImagePull', outdated: true });
  const { verdict } = cluster.decide();
  assert.equal(verdict.state, 'RollingOut');
  assert.deepEqual(orders(verdict), ['delete Pod/db-2']);
});

test('a running pod that does not serve is not given to a new revision that does not serve either', () => {
  const killed = () => aCluster().inView('v', [0, 1], { primary: 0 }).silent(1).pod(1, { outdated: true });
  for (const cluster of [
    killed().pod(2, { waiting: 'ImagePullBackOff' }),
    killed().pod(2, { outdated: true, deleting: true }),
    killed().withoutPod(2),
  ]) {
    assert.deepEqual(orders(cluster.inView('v', [0], { primary: 0 }).decide().verdict), []);
  }
  const alone = killed().inView('v', [0, 2], { primary: 0 });
  assert.deepEqual(orders(alone.decide().verdict), ['delete Pod/db-1']);
  const both = killed().inView('v', [0], { primary: 0 }).silent(2).pod(2, { outdated: true });
  assert.deepEqual(orders(both.decide().verdict), ['delete Pod/db-1']);
});

test('a broken pod that is up to date, or on its way out already, is not deleted', () => {
  const broken = aCluster().inView('v', [0, 1], { primary: 0 }).pod(2, { waiting: 'ErrImagePull' });
  assert.deepEqual(orders(broken.decide().verdict), []);
  assert.deepEqual(orders(broken.pod(2, { outdated: true, deleting: true }).decide().verdict), []);
});

test('a member that is cloning is not interrupted', () => {
  const cluster = aCluster().inView('v', [0, 1], { primary: 0 }).pod(2, { outdated: true });
  assert.deepEqual(orders(cluster.offline(2, '', { cloning: true }).decide().verdict), []);
});

test('without a group a running pod is not touched: it may be the one that knows most', () => {
  const cluster = aCluster().bootstrapped().offline(0).pod(0, { outdated: true }).silent(1);
  assert.deepEqual(orders(cluster.decide().verdict), []);
});

test('before there ever was a group, a bad image or setting that was corrected heals too', () => {
  const cluster = aCluster().pod(0, { outdated: true }).silent(0);
  assert.deepEqual(orders(cluster.decide().verdict), ['delete Pod/db-0']);
});

test('nothing is rolled out before the StatefulSet controller has looked at the template', () => {
  const { verdict } = outdated(0, 1, 2).notRolledOut().decide();
  assert.deepEqual([verdict.state, orders(verdict)], ['RollingOut', []]);
  assert.ok(verdict.transitional);
  // no event tells when it has, also not while another thing is waited for that does not move by itself
  const stuck = aCluster().inView('v', [0, 1], { primary: 0 }).pod(2, { waiting: 'ImagePullBackOff' });
  assert.equal(stuck.decide().verdict.transitional, false);
  assert.equal(stuck.notRolledOut().decide().verdict.transitional, true);
});

test('a deletion carries the identity of the very pod that was judged', () => {
  const [action] = outdated(2).decide().verdict.actions;
  assert.deepEqual(action, {
    do: 'delete',
    target: { kind: 'Pod', namespace: 'shop', name: 'db-2', uid: 'pod-2-uid', resourceVersion: '5' },
    orphan: false,
    why: 'outdated',
  });
});
