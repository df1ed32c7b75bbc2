import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANNOTATION } from '../resource/names.ts';
import { aCluster, gtids, orders, ownGtids } from './testing.ts';

const allAt = (executed: string) => aCluster().offline(0, executed).offline(1, executed).offline(2, executed);

test('a new cluster waits for every member before one is chosen', () => {
  const { verdict } = aCluster().silent(2).decide();
  assert.equal(verdict.state, 'NotBootstrapped');
  assert.match(verdict.message, /Still missing: db-2 does not answer/);
  assert.doesNotMatch(verdict.message, /accept-data-loss/);
  assert.equal(verdict.bootstrap, undefined);
  assert.equal(verdict.transitional, true);
});

test('the choice is recorded before anything acts on it', () => {
  const { verdict } = aCluster().decide();
  assert.equal(verdict.state, 'NotBootstrapped');
  assert.deepEqual(verdict.bootstrap, { member: 'db-0', executed: '', at: '2026-01-02T03:04:05Z' });
  assert.deepEqual(verdict.actions, []);
});

test('a recorded choice that still holds is carried out and not recorded again', () => {
  const { verdict } = allAt(gtids('1-5')).bootstrapped(1, gtids('1-5')).decide();
  assert.equal(verdict.state, 'FullOutage');
  assert.deepEqual(orders(verdict), [`bootstrap db-1 at ${gtids('1-5')}`]);
  assert.equal(verdict.bootstrap, undefined);
});

test('a recorded choice is made anew when its member has changed since', () => {
  const { verdict } = allAt(gtids('1-6')).bootstrapped(0, gtids('1-5')).decide();
  assert.deepEqual(orders(verdict), []);
  assert.equal(verdict.bootstrap?.executed, gtids('1-6'));
});

test('a recorded member that no longer has everything is replaced', () => {
  const cluster = allAt(gtids('1-5')).offline(2, gtids('1-6')).bootstrapped(0, gtids('1-5'));
  const { verdict } = cluster.decide();
  assert.deepEqual(orders(verdict), []);
  assert.equal(verdict.bootstrap?.member, 'db-2');
});

test('what a member has received counts: the one with the most executed transactions need not have everything', () => {
  const cluster = allAt(gtids('1-8')).offline(0, gtids('1-10'));
  const { verdict } = cluster.offline(1, gtids('1-8'), { received: gtids('9-11') }).decide();
  assert.equal(verdict.state, 'FullOutage');
  assert.equal(verdict.bootstrap?.member, 'db-1');
  assert.equal(verdict.bootstrap?.executed, gtids('1-8'));
});

test('of equals the recorded member is chosen, else the lowest ordinal', () => {
  assert.equal(allAt(gtids('1-5')).decide().verdict.bootstrap?.member, 'db-0');
  assert.equal(allAt(gtids('1-5')).bootstrapped(2).decide().verdict.bootstrap?.member, 'db-2');
});

test('one silent member holds everything up, is named, and the way out is told', () => {
  const { verdict } = allAt(gtids('1-5')).bootstrapped(0, gtids('1-5')).silent(2).decide();
  assert.equal(verdict.state, 'FullOutage');
  assert.match(verdict.message, /db-2 does not answer.*annotate with .*accept-data-loss: db-2/);
  assert.deepEqual(verdict.actions, []);
  assert.equal(verdict.bootstrap, undefined);
});

test('a cluster that had a group is no new one when a silent member may hold all of it', () => {
  assert.equal(aCluster().bootstrapped().silent(0).decide().verdict.state, 'FullOutage');
});

test('members are counted by the live replicas and not by spec.size', () => {
  const { verdict } = allAt(gtids('1-5')).spec({ size: 1 }).bootstrapped(0, gtids('1-5')).silent(2).decide();
  assert.equal(verdict.state, 'FullOutage');
  assert.deepEqual(verdict.actions, []);
});

test('a loss that is accepted by name is not waited for, and what the named one says does not count', () => {
  const accepted = { [ANNOTATION.acceptDataLoss]: 'db-2' };
  const silent = allAt(gtids('1-5')).bootstrapped(0, gtids('1-5')).silent(2).annotated(accepted);
  assert.deepEqual(orders(silent.decide().verdict), [`bootstrap db-0 at ${gtids('1-5')}`]);
  const back = silent.offline(2, gtids('1-9'));
  assert.deepEqual(orders(back.decide().verdict), [`bootstrap db-0 at ${gtids('1-5')}`]);
});

test('when nobody has everything, nobody is chosen and it is told who lacks what', () => {
  const split = aCluster({ size: 2 })
    .bootstrapped()
    .offline(0, `${gtids('1-10')},${ownGtids(0, '1')}`)
    .offline(1, gtids('1-11'));
  const { verdict } = split.decide();
  assert.equal(verdict.bootstrap, undefined);
  assert.deepEqual(verdict.actions, []);
  assert.ok(
    verdict.message.includes(`db-0 lacks ${gtids('11')}; db-1 lacks ${ownGtids(0, '1')}`),
    verdict.message,
  );
  assert.equal(verdict.transitional, false);
  const accepted = split.annotated({ [ANNOTATION.acceptDataLoss]: 'db-0' }).decide();
  assert.equal(accepted.verdict.bootstrap?.member, 'db-1');
});

test('the loss of all members accepted, those that answer are compared with each other', () => {
  const cluster = allAt(gtids('1-5')).offline(1, gtids('1-6')).silent(2).bootstrapped();
  const { verdict } = cluster.annotated({ [ANNOTATION.acceptDataLoss]: 'db-0,db-1,db-2' }).decide();
  assert.equal(verdict.bootstrap?.member, 'db-1');
});

test('a member whose set cannot be read holds everything up', () => {
  const { verdict } = allAt(gtids('1-5')).offline(1, 'nonsense').decide();
  assert.equal(verdict.bootstrap, undefined);
  assert.match(verdict.message, /db-1 gives an answer that cannot be read/);
});

test('nobody starts a group while a clone runs or a pod is being deleted', () => {
  const record = gtids('1-5');
  const cloning = allAt(record).bootstrapped(0, record).offline(1, record, { cloning: true });
  const deleting = allAt(record).bootstrapped(0, record).pod(0, { deleting: true });
  for (const cluster of [cloning, deleting]) {
    const { verdict } = cluster.decide();
    assert.equal(verdict.state, 'FullOutage');
    assert.deepEqual(verdict.actions, []);
    assert.equal(verdict.transitional, true);
  }
});
