import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aCluster, type ClusterBuilder } from '../decide/testing.ts';
import { type Failure, Permanent } from '../errors.ts';
import { announcements } from './announcements.ts';
import { statusOf } from './status.ts';

const statusAfter = (cluster: ClusterBuilder, ...failures: Failure[]) => {
  const { facts, verdict } = cluster.decide();
  return statusOf(facts, verdict, failures);
};

/** What is announced of `now` when the status tells of `before`. */
function news(before: ClusterBuilder | undefined, now: ClusterBuilder, ...failures: Failure[]) {
  const cluster = before ? now.status(statusAfter(before)) : now;
  const { facts, verdict } = cluster.decide();
  return announcements(facts, verdict, statusOf(facts, verdict, failures));
}
const inWords = (...args: Parameters<typeof news>) =>
  news(...args).map(({ type, reason }) => `${type} ${reason}`);

const healthy = () => aCluster().online();
const joining = () => aCluster().inView('view:1', [0, 1], { primary: 0 });

describe('announced is', () => {
  test('the first state', () => {
    assert.deepEqual(inWords(undefined, aCluster().replicas(undefined)), ['Normal WaitingForPods']);
  });

  test('another state, in the words of the verdict', () => {
    assert.deepEqual(inWords(healthy(), joining()), ['Normal Joining']);
    assert.equal(news(healthy(), joining())[0]?.note, joining().decide().verdict.message);
  });

  test('trouble, as a warning', () => {
    const outage = aCluster().bootstrapped().offline(0).offline(1).silent(2);
    assert.deepEqual(inWords(healthy(), outage), ['Warning FullOutage']);
  });

  test('another primary, with the one before', () => {
    assert.deepEqual(
      news(healthy(), aCluster().online(2)).map(({ reason, note }) => [reason, note]),
      [['PrimaryChanged', 'db-2 is the primary; it was db-0.']],
    );
  });

  test('the first primary', () => {
    assert.deepEqual(inWords(aCluster(), healthy()), ['Normal Healthy', 'Normal PrimaryChanged']);
  });

  test('waiting that turns out to need a person, once more and as a warning', () => {
    const starting = () => aCluster().pod(0, { phase: 'Pending' });
    const stuck = () => aCluster().pod(0, { waiting: 'ImagePullBackOff' });
    assert.deepEqual(inWords(starting(), stuck()), ['Warning WaitingForPods']);
    assert.match(news(starting(), stuck())[0]?.note ?? '', /ImagePullBackOff/);
    assert.deepEqual(inWords(stuck(), stuck()), []);
  });

  test('what is refused for good', () => {
    const refused = new Permanent('exceeded quota');
    assert.deepEqual(
      news(healthy(), healthy(), refused).map(({ type, reason, note }) => [type, reason, note]),
      [['Warning', 'Refused', 'exceeded quota']],
    );
    const told = healthy().status(statusAfter(healthy(), refused));
    assert.deepEqual(inWords(undefined, told, refused), []);
  });
});

describe('not announced is', () => {
  test('a state that stands already, though its message changed', () => {
    const one = joining().offline(2, undefined, { trouble: 'cannot reach a member' });
    assert.notEqual(one.decide().verdict.message, joining().decide().verdict.message);
    assert.deepEqual(inWords(joining(), one), []);
  });

  test('that there is no primary: the state says more', () => {
    const none = aCluster().inView('view:2', [1, 2]);
    assert.deepEqual(inWords(healthy(), none), ['Normal Joining']);
  });

  test('a state in which nothing is to be done, as a warning', () => {
    assert.deepEqual(inWords(joining(), healthy()), ['Normal Healthy']);
    assert.deepEqual(inWords(joining(), aCluster({ paused: true }).online()), ['Normal Paused']);
  });
});
