import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANNOTATION, LABEL } from '../resource/names.ts';
import { aCluster, type ClusterBuilder, orders, uuidOf, writes } from './testing.ts';

/** The labels that are written, by pod. */
const relabelled = (cluster: ClusterBuilder) =>
  Object.fromEntries(
    cluster.decide().verdict.actions.flatMap((action) => {
      return action.do === 'relabel' ? [[action.target.name, action.labels]] : [];
    }),
  );
const PRIMARY = { [LABEL.role]: 'primary', [LABEL.reads]: null };
const SECONDARY = { [LABEL.role]: 'secondary', [LABEL.reads]: 'true' };
const NONE = { [LABEL.role]: null, [LABEL.reads]: null };

test('labels follow the view of the majority', () => {
  const cluster = aCluster().online(0).inView('new', [1, 2], { primary: 1 });
  assert.deepEqual(relabelled(cluster), { 'db-0': NONE, 'db-1': PRIMARY });
});

test('new members are labelled: the primary for writes, the others for reads', () => {
  const cluster = aCluster().inView('v', [0, 1, 2], { primary: 0 });
  assert.deepEqual(relabelled(cluster), { 'db-0': PRIMARY, 'db-1': SECONDARY, 'db-2': SECONDARY });
});

test('a primary that is alone serves reads too', () => {
  const cluster = aCluster().online().inView('v', [0], { primary: 0 }).offline(1).offline(2);
  assert.deepEqual(relabelled(cluster), {
    'db-0': { ...PRIMARY, [LABEL.reads]: 'true' },
    'db-1': NONE,
    'db-2': NONE,
  });
});

test('a member that is RECOVERING or UNREACHABLE serves nothing', () => {
  const cluster = aCluster()
    .online()
    .inView('v', [0, 1], { primary: 0, sees: { 2: 'UNREACHABLE' } })
    .silent(2);
  assert.deepEqual(relabelled(cluster), { 'db-2': NONE });
});

test('while members do not answer us, their labels stay: our blindness must not take a Service down', () => {
  const blind = aCluster().online().silent(0).silent(1).silent(2);
  assert.deepEqual(relabelled(blind), {});
  const survivor = blind.inView('v', [0], { primary: 0, sees: { 1: 'UNREACHABLE', 2: 'UNREACHABLE' } });
  assert.deepEqual(relabelled(survivor), {});
});

test('without a group, a member that says it is in none loses its labels', () => {
  assert.deepEqual(relabelled(aCluster().online().offline(0).silent(1).silent(2)), { 'db-0': NONE });
});

test('a label that somebody took away comes back, with the identity of the pod', () => {
  const cluster = aCluster()
    .online()
    .pod(0, { labels: {} })
    .pod(1, { labels: { ...SECONDARY } });
  const [action] = cluster.decide().verdict.actions;
  assert.deepEqual(action, {
    do: 'relabel',
    labels: PRIMARY,
    target: { kind: 'Pod', namespace: 'shop', name: 'db-0', uid: 'pod-0-uid', resourceVersion: '5' },
  });
});

test('a label that somebody added goes, on the primary as on a member that is in no group', () => {
  const cluster = aCluster()
    .online()
    .pod(0, { labels: { [LABEL.role]: 'primary', [LABEL.reads]: 'true' } })
    .offline(2)
    .pod(2, { labels: { [LABEL.role]: 'primary' } });
  assert.deepEqual(relabelled(cluster.inView('v', [0, 1], { primary: 0 })), {
    'db-0': PRIMARY,
    'db-2': NONE,
  });
});

test('owned objects that are missing or were edited are restored, in whatever state the group is', () => {
  for (const cluster of [aCluster().online(), aCluster().bootstrapped().silent(1)]) {
    cluster.child('readService', () => undefined);
    cluster.child('primaryService', (made) => ({ ...made, spec: { ...made.spec, selector: { app: 'x' } } }));
    assert.deepEqual(writes(cluster.decide().verdict), ['apply Service/db', 'apply Service/db-read']);
  }
});

test('a member in ERROR joins again', () => {
  const cluster = aCluster().online().inView('v', [0, 1], { primary: 0 });
  const { verdict } = cluster.offline(2, '', { state: 'ERROR' }).decide();
  assert.deepEqual(orders(verdict), ['join db-2 to db-0, db-1']);
});

test('members that may not join: cloning, errant, on their way out, still listed, or without a group', () => {
  const beside = () => aCluster().online().inView('v', [0, 1], { primary: 0 });
  for (const [what, cluster] of [
    ['cloning', beside().offline(2, '', { cloning: true })],
    ['errant', beside().offline(2, `${uuidOf(2)}:1`)],
    ['on its way out', beside().offline(2).pod(2, { deleting: true })],
    ['still listed', aCluster().online().offline(2)],
    ['no group', aCluster().bootstrapped().offline(0).offline(1).silent(2)],
    [
      'no seed',
      aCluster()
        .inView('v', [0, 1], { sees: { 0: 'RECOVERING', 1: 'RECOVERING' } })
        .offline(2),
    ],
  ] as const) {
    assert.deepEqual(orders(cluster.decide().verdict), [], what);
  }
});

test('annotations that did their work are taken away, so that they cannot act twice', () => {
  const annotations = { [ANNOTATION.rebuild]: 'db-2', [ANNOTATION.acceptDataLoss]: 'db-1', other: 'stays' };
  assert.deepEqual(orders(aCluster().online().annotated(annotations).decide().verdict), [
    `remove ${ANNOTATION.acceptDataLoss}, ${ANNOTATION.rebuild}`,
  ]);
  const waiting = aCluster().bootstrapped().silent(0).annotated(annotations);
  assert.deepEqual(orders(waiting.decide().verdict), []);
});
