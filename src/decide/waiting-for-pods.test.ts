import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCluster, gtids, orders } from './testing.ts';

test('each pod is named with its cause', () => {
  const cluster = aCluster()
    .pod(1, { waiting: 'ImagePullBackOff' })
    .pod(2, { unscheduled: 'no node is free' });
  const { verdict } = cluster.decide();
  assert.equal(verdict.state, 'WaitingForPods');
  assert.match(verdict.message, /db-1 and db-2/);
  assert.match(verdict.message, /db-1 ImagePullBackOff: as the kubelet says/);
  assert.match(verdict.message, /db-2 cannot be scheduled: no node is free/);
  assert.equal(verdict.transitional, false);
});

test('a pod that cannot be created is told with the cause that the StatefulSet has', () => {
  const { verdict } = aCluster().withoutPod(2).creationTrouble('forbidden: exceeded quota').decide();
  assert.equal(verdict.state, 'WaitingForPods');
  assert.match(verdict.message, /db-2 has no pod \(forbidden: exceeded quota\)/);
  assert.equal(verdict.transitional, false);
});

test('pods that are about to start are looked at again soon', () => {
  const { verdict } = aCluster().withoutPod(1).pod(2, { phase: 'Pending' }).decide();
  assert.equal(verdict.state, 'WaitingForPods');
  assert.equal(verdict.transitional, true);
});

test('beside a group it is still the state, while the others work and may join', () => {
  const cluster = aCluster()
    .online()
    .inView('v', [0], { primary: 0 })
    .offline(1)
    .pod(2, { waiting: 'ErrImagePull' });
  const { verdict } = cluster.decide();
  assert.equal(verdict.state, 'WaitingForPods');
  assert.deepEqual(orders(verdict), ['join db-1 to db-0']);
});

test('members that are to be removed are not waited for', () => {
  const cluster = aCluster({ size: 2 }).replicas(3).online().inView('v', [0, 1], { primary: 0 });
  assert.equal(cluster.pod(2, { unscheduled: 'full' }).decide().verdict.state, 'ScalingDown');
});

test('after a group was lost, a missing pod is part of the outage, named with its cause and the way out', () => {
  const cluster = aCluster().bootstrapped().offline(0, gtids('1-5')).offline(1, gtids('1-5')).withoutPod(2);
  const { verdict } = cluster.creationTrouble('exceeded quota').decide();
  assert.equal(verdict.state, 'FullOutage');
  assert.match(verdict.message, /db-2 has no pod \(exceeded quota\).*accept-data-loss: db-2/);
});
