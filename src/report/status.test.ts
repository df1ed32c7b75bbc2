import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aCluster, type ClusterBuilder, secondsAgo } from '../decide/testing.ts';
import { sameStatus, statusOf } from './status.ts';

function told(cluster: ClusterBuilder) {
  const { facts, verdict } = cluster.decide();
  return statusOf(facts, verdict, []);
}

test('nodes, primary and members are what the majority sees', () => {
  const status = told(aCluster().inView('view:1', [0, 1], { primary: 1 }).offline(2));
  assert.deepEqual(status.nodes, ['db-0', 'db-1']);
  assert.equal(status.primary, 'db-1');
  assert.deepEqual(status.members, [
    { name: 'db-0', state: 'ONLINE', role: 'SECONDARY', version: '8.4.3' },
    { name: 'db-1', state: 'ONLINE', role: 'PRIMARY', version: '8.4.3' },
    { name: 'db-2', state: 'OFFLINE', version: '8.4.3' },
  ]);
});

test('a member that believes in itself alone is neither a node nor the primary', () => {
  const status = told(
    aCluster().inView('view:1', [0], { primary: 0, sees: { 1: 'UNREACHABLE', 2: 'UNREACHABLE' } }),
  );
  assert.deepEqual(status.nodes, []);
  assert.ok(!('primary' in status));
});

describe('the message of a member', () => {
  const messages = (cluster: ClusterBuilder) => told(cluster).members?.map(({ message }) => message);

  test('says why it does not serve', () => {
    const cluster = aCluster().pod(1, { waiting: 'ImagePullBackOff' }).silent(2, 'refuses connections');
    assert.deepEqual(messages(cluster), [
      undefined,
      'ImagePullBackOff: as the kubelet says',
      'refuses connections',
    ]);
  });

  test('is absent while the majority has it ONLINE, though it does not answer us', () => {
    assert.deepEqual(messages(aCluster().online().silent(2)), [undefined, undefined, undefined]);
  });

  test('is cut to what a status can hold', () => {
    assert.equal(messages(aCluster().silent(0, 'x'.repeat(9_999)))?.[0]?.length, 1_000);
  });
});

test('the scale subresource finds pods and their number', () => {
  const { replicas, selector } = told(aCluster().online().withoutPod(2));
  assert.deepEqual([replicas, selector], [2, 'app=mysql,mysql.example.com/cluster=db']);
});

describe('the record of the bootstrap', () => {
  const record = { member: 'db-1', executed: 'x', at: secondsAgo(60) };

  test('stays', () => {
    assert.deepEqual(told(aCluster().online().status({ bootstrap: record })).bootstrap, record);
  });

  test('is the new choice when there is one', () => {
    const { verdict } = aCluster().decide();
    assert.ok(verdict.bootstrap);
    assert.deepEqual(told(aCluster()).bootstrap, verdict.bootstrap);
  });
});

describe('the status is the same', () => {
  test('for the same cluster, as it comes back from the API server', () => {
    const cluster = aCluster().online();
    const status = told(cluster);
    const stored = JSON.parse(JSON.stringify(status));
    assert.ok(sameStatus(stored, told(cluster.status(stored))));
  });

  test('however long it stays so', () => {
    const cluster = aCluster().online();
    const conditions = told(cluster).conditions?.map((one) => ({
      ...one,
      lastTransitionTime: secondsAgo(9_999),
    }));
    const status = { ...told(cluster), ...(conditions ? { conditions } : {}) };
    assert.ok(sameStatus(status, told(cluster.status(status))));
  });

  test('not after anything changed', () => {
    const status = told(aCluster().online());
    assert.ok(!sameStatus(undefined, status));
    assert.ok(!sameStatus(status, told(aCluster().online(1))));
    assert.ok(!sameStatus(status, { ...status, observedGeneration: 2 }));
  });
});
