import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quorateGroup } from './group.ts';
import { aCluster, type ClusterBuilder, uuidOf } from './testing.ts';

const groupOf = (cluster: ClusterBuilder, preferred?: string) =>
  quorateGroup(cluster.observed().reports, preferred);

test('all members in one view are a group', () => {
  const group = groupOf(aCluster().online(1));
  assert.equal(group?.viewId, 'view:1');
  assert.equal(group?.primary, uuidOf(1));
  assert.equal(group?.peers.length, 3);
});

test('two of three with one unreachable are a group', () => {
  const group = groupOf(
    aCluster()
      .inView('v', [0, 1], { primary: 0, sees: { 2: 'UNREACHABLE' } })
      .silent(2),
  );
  assert.equal(group?.primary, uuidOf(0));
  assert.deepEqual(
    group?.peers.map(({ state }) => state),
    ['ONLINE', 'ONLINE', 'UNREACHABLE'],
  );
});

test('half of four is none', () => {
  const half = aCluster({ size: 4 }).inView('v', [0, 1], { sees: { 2: 'ONLINE', 3: 'ONLINE' } });
  assert.equal(groupOf(half.silent(2).silent(3)), undefined);
});

test('members that see half of their view unreachable are no majority, however many they are', () => {
  const cluster = aCluster({ size: 4 }).inView('v', [0, 1, 2, 3], {
    sees: { 2: 'UNREACHABLE', 3: 'UNREACHABLE' },
  });
  assert.equal(groupOf(cluster), undefined);
});

test('a member that was paused and woke with its old view counts for nothing', () => {
  const woken = aCluster().inView('old', [0, 1, 2], { primary: 0 }).inView('new', [1, 2], { primary: 1 });
  assert.equal(groupOf(woken)?.primary, uuidOf(1));
  assert.equal(groupOf(woken.silent(2)), undefined, 'nor does one of the two that are left');
});

test('a member that is OFFLINE or in ERROR in its own eyes does not vote, whatever view it remembers', () => {
  const { reports } = aCluster().online().observed();
  for (const state of ['OFFLINE', 'ERROR'] as const) {
    const asIfDown = reports.map((report, index) =>
      report.answered && index > 0 ? { ...report, state } : report,
    );
    assert.equal(quorateGroup(asIfDown, undefined), undefined);
  }
});

test('of two quorate views the larger wins, then the one with the recorded member, then the lowest ordinal', () => {
  const uneven = aCluster({ size: 5 }).inView('a', [0, 1]).inView('b', [2, 3, 4]);
  assert.equal(groupOf(uneven, 'db-0')?.viewId, 'b');
  const even = aCluster({ size: 4 }).inView('a', [0, 1]).inView('b', [2, 3]);
  assert.equal(groupOf(even, 'db-3')?.viewId, 'b');
  assert.equal(groupOf(even, 'db-9')?.viewId, 'a');
});

test('what most members of the view say about one of them holds', () => {
  const { reports } = aCluster().online().observed();
  const oneDoubts = reports.map((report, index) =>
    report.answered && index === 0
      ? { ...report, peers: report.peers.map((peer) => ({ ...peer, role: undefined })) }
      : report,
  );
  assert.equal(quorateGroup(oneDoubts, undefined)?.primary, uuidOf(0));
});

test('a primary that is not ONLINE is none', () => {
  const cluster = aCluster()
    .inView('v', [1, 2], { primary: 0, sees: { 0: 'UNREACHABLE' } })
    .silent(0);
  assert.equal(groupOf(cluster)?.primary, undefined);
});
