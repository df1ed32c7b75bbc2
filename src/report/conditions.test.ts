import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aCluster, type ClusterBuilder, secondsAgo } from '../decide/testing.ts';
import { type Failure, Permanent, Retryable } from '../errors.ts';
import { conditions } from './conditions.ts';

function told(cluster: ClusterBuilder, ...failures: Failure[]) {
  const { facts, verdict } = cluster.decide();
  return Object.fromEntries(conditions(facts, verdict, failures).map((one) => [one.type, one]));
}
const inWords = (cluster: ClusterBuilder, ...failures: Failure[]) =>
  Object.values(told(cluster, ...failures)).map(({ type, status, reason }) => `${type}=${status} ${reason}`);

const outage = () => aCluster().bootstrapped().offline(0).offline(1).silent(2);

describe('the four conditions of', () => {
  test('a healthy cluster', () => {
    assert.deepEqual(inWords(aCluster().online()), [
      'Ready=True Healthy',
      'Available=True PrimaryWritable',
      'Progressing=False Settled',
      'Degraded=False AsExpected',
    ]);
  });

  test('a new one: nothing is wrong with it yet', () => {
    assert.deepEqual(inWords(aCluster().replicas(undefined)), [
      'Ready=False WaitingForPods',
      'Available=False NoPrimary',
      'Progressing=True WaitingForPods',
      'Degraded=False AsExpected',
    ]);
  });

  test('one that lacks a member: it accepts writes and is degraded', () => {
    assert.deepEqual(inWords(aCluster().inView('view:1', [0, 1], { primary: 0 })), [
      'Ready=False Joining',
      'Available=True PrimaryWritable',
      'Progressing=True Joining',
      'Degraded=True Joining',
    ]);
  });

  test('a full outage', () => {
    assert.deepEqual(inWords(outage()), [
      'Ready=False FullOutage',
      'Available=False NoPrimary',
      'Progressing=True FullOutage',
      'Degraded=True FullOutage',
    ]);
  });

  test('one that is paused: what is there goes on being told', () => {
    assert.deepEqual(inWords(aCluster({ paused: true }).online()), [
      'Ready=False Paused',
      'Available=True PrimaryWritable',
      'Progressing=False Settled',
      'Degraded=False AsExpected',
    ]);
  });

  test('a hibernated one: that is as asked for', () => {
    assert.deepEqual(inWords(aCluster({ size: 0 }).replicas(0).noted(3)), [
      'Ready=True Hibernated',
      'Available=False NoPrimary',
      'Progressing=False Settled',
      'Degraded=False AsExpected',
    ]);
  });
});

test('the message is the verdict’s, on Ready and, when something is wrong, on Degraded', () => {
  const { verdict } = outage().decide();
  const { Ready, Degraded } = told(outage());
  assert.deepEqual([Ready?.message, Degraded?.message], [verdict.message, verdict.message]);
  assert.equal(told(aCluster().online()).Degraded?.message, '');
});

describe('what is refused for good', () => {
  const refused = new Permanent('PATCH /x: 403 exceeded quota');

  test('stands in Degraded, and what is as it should be otherwise is not Ready', () => {
    const { Ready, Degraded } = told(aCluster().online(), refused, new Permanent('PATCH /y: 422 invalid'));
    assert.deepEqual([Ready?.status, Ready?.reason], ['False', 'Healthy']);
    assert.deepEqual([Degraded?.status, Degraded?.reason], ['True', 'Refused']);
    assert.equal(Degraded?.message, 'PATCH /x: 403 exceeded quota; PATCH /y: 422 invalid');
  });

  test('is not what may pass: a conflict or a timeout is no news', () => {
    assert.deepEqual(inWords(aCluster().online(), new Retryable('409')), inWords(aCluster().online()));
  });

  test('is cut to what a status can hold', () => {
    assert.equal(told(aCluster().online(), new Permanent('x'.repeat(9_999))).Degraded?.message.length, 2_000);
  });

  /** Degraded after a pass with `now`, where `before` stands. */
  function after(before: string, now: string): string | undefined {
    const cluster = aCluster().online();
    const status = { conditions: Object.values(told(cluster, new Permanent(before))) };
    return told(cluster.status(status), new Permanent(now)).Degraded?.message;
  }

  test('is not told anew for another request id or time: each status write would wake us again', () => {
    const first = 'denied by webhook, request 3f2b8c1e-0d4a-4a51-9c7e-1b2a3c4d5e6f at 2026-01-02T03:04:05Z';
    const second = 'denied by webhook, request 99999999-8888-4777-a666-555555555555 at 2026-01-02T03:04:17Z';
    assert.equal(after(first, second), first);
  });

  test('is told anew when it is another refusal', () => {
    assert.equal(
      after('exceeded quota, used: pods=3', 'exceeded quota, used: pods=4'),
      'exceeded quota, used: pods=4',
    );
    assert.equal(after('PATCH /data-db-1: 403', 'PATCH /data-db-2: 403'), 'PATCH /data-db-2: 403');
  });
});

describe('the time of a transition', () => {
  const before = { reason: 'x', message: '', lastTransitionTime: secondsAgo(600) };

  test('stays while the status does, whatever the reason becomes', () => {
    const cluster = aCluster()
      .online()
      .status({ conditions: [{ type: 'Ready', status: 'True', ...before }] });
    assert.equal(told(cluster).Ready?.lastTransitionTime, before.lastTransitionTime);
  });

  test('is when it was seen, in whole seconds', () => {
    const cluster = aCluster()
      .online()
      .status({ conditions: [{ type: 'Ready', status: 'False', ...before }] });
    assert.equal(told(cluster).Ready?.lastTransitionTime, '2026-01-02T03:04:05Z');
    assert.equal(told(cluster).Available?.lastTransitionTime, '2026-01-02T03:04:05Z');
  });
});
