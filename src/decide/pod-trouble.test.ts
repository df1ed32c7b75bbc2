import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podTrouble } from './pod-trouble.ts';
import { aCluster, type ClusterBuilder } from './testing.ts';

const troubleOf = (change: (cluster: ClusterBuilder) => ClusterBuilder) => {
  const [pod] = change(aCluster({ size: 1 })).observed().pods;
  return pod && podTrouble(pod);
};

test('a running pod with an address has none', () => {
  assert.equal(
    troubleOf((cluster) => cluster),
    undefined,
  );
});

for (const reason of [
  'ImagePullBackOff',
  'ErrImagePull',
  'CrashLoopBackOff',
  'CreateContainerConfigError',
] as const) {
  test(`${reason} is told with the kubelet's message and needs help from outside`, () => {
    assert.deepEqual(
      troubleOf((cluster) => cluster.pod(0, { waiting: reason })),
      { why: `${reason}: as the kubelet says`, stuck: true },
    );
  });
}

test('a pod that cannot be scheduled says why, and needs help from outside', () => {
  assert.deepEqual(
    troubleOf((cluster) => cluster.pod(0, { unscheduled: '0/3 nodes are available' })),
    { why: 'cannot be scheduled: 0/3 nodes are available', stuck: true },
  );
});

test('a pod that is just starting will do without help', () => {
  assert.deepEqual(
    troubleOf((cluster) => cluster.pod(0, { phase: 'Pending' })),
    { why: 'is Pending', stuck: false },
  );
  assert.deepEqual(
    troubleOf((cluster) => cluster.pod(0, { waiting: 'ContainerCreating' })),
    { why: 'is Pending', stuck: false },
  );
});

test('a deletion comes before every other cause', () => {
  assert.deepEqual(
    troubleOf((cluster) => cluster.pod(0, { deleting: true, waiting: 'CrashLoopBackOff' })),
    { why: 'is being deleted', stuck: false },
  );
});
