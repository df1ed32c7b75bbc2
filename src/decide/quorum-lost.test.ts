import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANNOTATION } from '../resource/names.ts';
import { aCluster, orders, secondsAgo } from './testing.ts';

/** Two of three were killed: the survivor says ONLINE and PRIMARY. */
const survivor = () =>
  aCluster()
    .online()
    .inView('view:1', [0], { primary: 0, sees: { 1: 'UNREACHABLE', 2: 'UNREACHABLE' } });

test('a survivor is not believed; while others are silent they are named and waited for', () => {
  const { facts, verdict } = survivor().silent(1).silent(2, 'is still starting').decide();
  assert.equal(facts.primary, undefined);
  assert.equal(verdict.state, 'QuorumLost');
  assert.match(verdict.message, /Still missing: db-1 does not answer in time; db-2 is still starting/);
  assert.match(verdict.message, /accept-data-loss: db-1,db-2/);
  assert.deepEqual(verdict.actions, []);
  assert.equal(verdict.transitional, true);
});

test('members that only a change from outside can bring back are waited for without haste', () => {
  const cluster = survivor().pod(1, { unscheduled: 'full' }).withoutPod(2).creationTrouble('exceeded quota');
  assert.equal(cluster.decide().verdict.transitional, false);
});

test('when all answer and there can be no majority any more, what is left of the group is stopped', () => {
  const { verdict } = survivor().offline(1).offline(2).decide();
  assert.equal(verdict.state, 'QuorumLost');
  assert.deepEqual(orders(verdict), ['leave db-0']);
});

test('it is stopped on every member that claims it', () => {
  const cluster = aCluster({ size: 5 })
    .inView('v', [0, 1], { sees: { 2: 'UNREACHABLE', 3: 'UNREACHABLE', 4: 'UNREACHABLE' } })
    .offline(2)
    .offline(3)
    .offline(4);
  assert.deepEqual(orders(cluster.decide().verdict), ['leave db-0', 'leave db-1']);
});

test('accepting the loss of all silent members has the effect of their answer, of some it has none', () => {
  const cluster = survivor().silent(1).silent(2);
  const accepting = (members: string) =>
    orders(cluster.annotated({ [ANNOTATION.acceptDataLoss]: members }).decide().verdict);
  assert.deepEqual(accepting('db-1'), []);
  assert.deepEqual(accepting('db-1, db-2'), ['leave db-0']);
});

test('a group whose view is just changing is left in peace: answers are of different moments', () => {
  // db-0 still tells of two members, db-1 already of three, db-2 had not joined yet when it was asked
  const changing = aCluster()
    .inView('view:1', [0], { primary: 0, sees: { 1: 'ONLINE' } })
    .inView('view:2', [1], { primary: 0, sees: { 0: 'ONLINE', 2: 'RECOVERING' } })
    .offline(2);
  const { verdict } = changing.decide();
  assert.equal(verdict.state, 'QuorumLost');
  assert.deepEqual(orders(verdict), []);
  assert.equal(verdict.transitional, true);
});

test('members that stay cut off from each other for longer than they wait themselves are stopped', () => {
  const apart = aCluster()
    .inView('v', [0], { primary: 0, sees: { 1: 'UNREACHABLE', 2: 'UNREACHABLE' } })
    .inView('v', [1], { primary: 0, sees: { 0: 'UNREACHABLE', 2: 'UNREACHABLE' } })
    .inView('v', [2], { primary: 0, sees: { 0: 'UNREACHABLE', 1: 'UNREACHABLE' } });
  const unavailableSince = (seconds: number) =>
    apart.status({
      conditions: [
        {
          type: 'Available',
          status: 'False',
          reason: 'NoPrimary',
          message: '',
          lastTransitionTime: secondsAgo(seconds),
        },
      ],
    });
  assert.deepEqual(orders(unavailableSince(10).decide().verdict), []);
  assert.deepEqual(orders(unavailableSince(40).decide().verdict), ['leave db-0', 'leave db-1', 'leave db-2']);
});
