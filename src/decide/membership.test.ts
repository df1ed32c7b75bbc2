import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCluster, gtids, writes, writtenSet } from './testing.ts';

test('a new Mysql gets all its objects in one pass, the StatefulSet last', () => {
  const cluster = aCluster().replicas(undefined);
  cluster.child('secret', () => undefined);
  cluster.child('configMap', () => undefined);
  cluster.child('primaryService', () => undefined);
  cluster.child('readService', () => undefined);
  cluster.child('nodesService', () => undefined);
  cluster.child('disruptionBudget', () => undefined);
  const { verdict } = cluster.decide();
  assert.equal(verdict.state, 'WaitingForPods');
  assert.equal(writes(verdict).length, 7);
  assert.equal(writes(verdict)[0], 'create Secret/db-credentials');
  assert.equal(writes(verdict).at(-1), 'apply StatefulSet/db');
  assert.equal(writtenSet(verdict)?.spec?.replicas, 3);
});

test('whoever has a kept volume is a member again until it has been asked', () => {
  const { verdict } = aCluster().replicas(undefined).claims(5).decide();
  assert.equal(writtenSet(verdict)?.spec?.replicas, 5);
});

test('a StatefulSet that was deleted under the pods comes back with all members', () => {
  const { verdict } = aCluster({ size: 1 }).replicas(undefined).claims(3).bootstrapped().decide();
  assert.equal(writtenSet(verdict)?.spec?.replicas, 3);
});

test('an outage never changes the membership, whatever spec.size says', () => {
  for (const size of [1, 5]) {
    const out = aCluster({ size }).replicas(3).bootstrapped().offline(0).offline(1).silent(2);
    assert.equal(writtenSet(out.decide().verdict), undefined);
    const lost = aCluster({ size })
      .replicas(3)
      .inView('v', [0], { primary: 0, sees: { 1: 'UNREACHABLE', 2: 'UNREACHABLE' } });
    assert.equal(writtenSet(lost.silent(1).silent(2).decide().verdict), undefined);
  }
});

test('an edited StatefulSet is restored without a change of the membership', () => {
  const cluster = aCluster({ size: 5 }).replicas(3).bootstrapped().offline(0, gtids('1-3')).silent(1);
  cluster.child('statefulSet', (set) =>
    set.spec ? { ...set, spec: { ...set.spec, podManagementPolicy: 'OrderedReady' } } : set,
  );
  const set = writtenSet(cluster.decide().verdict);
  assert.equal(set?.spec?.podManagementPolicy, 'Parallel');
  assert.equal(set?.spec?.replicas, 3);
});
