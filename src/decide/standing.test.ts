import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isEmpty } from '../mysql/gtid.ts';
import { factsOf } from './facts.ts';
import { aCluster, type ClusterBuilder, gtids, ownGtids, uuidOf } from './testing.ts';

const standing = (cluster: ClusterBuilder, ordinal: number) => {
  const found = factsOf(cluster.observed()).standings.find((one) => one.ordinal === ordinal);
  assert.ok(found);
  return found;
};

test('a server that was killed and is back is not in the group that still lists it as ONLINE', () => {
  const back = standing(aCluster().online().offline(2), 2);
  assert.deepEqual(
    { state: back.state, listed: back.listed, inGroup: back.inGroup, settled: back.settled },
    { state: 'OFFLINE', listed: true, inGroup: false, settled: false },
  );
});

test('a member that tells of an older view than the majority is what the majority says', () => {
  const late = standing(
    aCluster()
      .online()
      .inView('view:2', [1, 2], { primary: 0, sees: { 0: 'ONLINE' } }),
    0,
  );
  assert.deepEqual(
    { state: late.state, role: late.role, inGroup: late.inGroup },
    { state: 'ONLINE', role: 'PRIMARY', inGroup: true },
  );
});

test('a member that does not answer us is still what the majority says, but nothing may rest on it', () => {
  const mute = standing(aCluster().online().silent(0), 0);
  assert.deepEqual(
    { state: mute.state, role: mute.role, settled: mute.settled },
    { state: 'ONLINE', role: 'PRIMARY', settled: false },
  );
});

test('a member whose pod is being deleted is not settled', () => {
  assert.equal(standing(aCluster().online().pod(1, { deleting: true }), 1).settled, false);
});

test('a member with a new volume is another one than the group lists under its host name', () => {
  const fresh = aCluster()
    .online()
    .offline(2, '', { uuid: uuidOf(7) });
  assert.equal(standing(fresh, 2).listed, false);
});

test('states without an answer tell pod and server apart', () => {
  const cluster = aCluster().withoutPod(0).pod(1, { phase: 'Pending' }).silent(2);
  const states = factsOf(cluster.observed()).standings.map(({ state }) => state);
  assert.deepEqual(states, ['Missing', 'NotReady', 'Unanswering']);
});

test('transactions that only a member outside the group has are errant; those of members are not', () => {
  const cluster = aCluster()
    .inView('v', [0, 1])
    .offline(2, `${gtids('1-9')},${ownGtids(2, '1')}`);
  assert.deepEqual([...standing(cluster, 2).errant.keys()], [uuidOf(2)]);
  const all = factsOf(aCluster().online().observed()).standings;
  assert.ok(all.every(({ errant }) => isEmpty(errant)));
});

test('what a restarted member holds is not judged while the group still lists it', () => {
  const back = standing(aCluster().online().offline(2, ownGtids(2, '1')), 2);
  assert.ok(isEmpty(back.errant));
});

test('received transactions of the group count: they are certified, only not applied yet', () => {
  const cluster = aCluster()
    .inView('v', [0, 1], { executed: gtids('1-9') })
    .offline(2, gtids('1-10'));
  assert.equal(isEmpty(standing(cluster, 2).errant), false);
  const { reports, ...rest } = cluster.observed();
  const received = reports.map((report) =>
    report.name === 'db-0' ? { ...report, received: gtids('10') } : report,
  );
  const facts = factsOf({ ...rest, reports: received });
  assert.ok(isEmpty(facts.standings[2]?.errant ?? new Map([['none', []]])));
});

test('a set that cannot be read is no answer: taken for empty, its transactions could be lost', () => {
  const odd = standing(aCluster().offline(1, 'what is this'), 1);
  assert.equal(odd.answer, undefined);
  assert.equal(odd.state, 'Unanswering');
  assert.match(odd.trouble, /cannot be read/);
});

test('a pod is outdated only when the StatefulSet controller has looked at the current template', () => {
  const cluster = aCluster().pod(1, { outdated: true });
  assert.equal(standing(cluster, 1).outdated, true);
  assert.equal(standing(cluster, 0).outdated, false);
  assert.equal(standing(cluster.notRolledOut(), 1).outdated, false);
});

test('a pod beyond the replicas has a standing but is no member', () => {
  const shrunk = aCluster().child('statefulSet', (set) =>
    set.spec ? { ...set, spec: { ...set.spec, replicas: 2 } } : set,
  );
  const facts = factsOf(shrunk.observed());
  assert.equal(facts.standings.length, 3);
  assert.equal(facts.members.length, 2);
});
