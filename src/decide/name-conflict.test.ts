import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { aCluster, orders, writes } from './testing.ts';

const foreign = { labels: { app: 'other' }, ownerReferences: [] };
const ofOtherMysql = (name: string) => ({
  ownerReferences: [
    { apiVersion: 'example.com/v1alpha1', kind: 'Mysql', name, uid: 'another uid', controller: true },
  ],
});
const as = <T extends { readonly metadata?: ObjectMeta }>(object: T, metadata: ObjectMeta): T => ({
  ...object,
  metadata: { ...object.metadata, ...metadata },
});

test('a foreign object is named and not touched; labels and joins go on, nothing is disturbed', () => {
  const cluster = aCluster({ primary: 1 }).online().inView('v', [0, 1], { primary: 0 }).offline(2);
  const { verdict } = cluster.child('primaryService', (made) => as(made, foreign)).decide();
  assert.equal(verdict.state, 'NameConflict');
  assert.match(verdict.message, /Service db .*another name/);
  assert.deepEqual(writes(verdict), ['relabel db-2']);
  assert.deepEqual(orders(verdict), ['join db-2 to db-0, db-1']);
  assert.equal(verdict.transitional, false);
});

for (const child of ['statefulSet', 'secret', 'nodesService'] as const) {
  test(`a foreign ${child} stops everything: members of somebody else are not ours to label or to join`, () => {
    const cluster = aCluster().inView('v', [0, 1], { primary: 0 }).offline(2);
    const { verdict } = cluster
      .child(child, (made) => as(made, foreign))
      .child('configMap', () => undefined)
      .decide();
    assert.equal(verdict.state, 'NameConflict');
    assert.deepEqual(verdict.actions, []);
  });
}

test('what a deleted Mysql of this name still owns is waited for and not written to', () => {
  const cluster = aCluster().child('statefulSet', (made) => as(made, ofOtherMysql('db')));
  const { verdict } = cluster.decide();
  assert.equal(verdict.state, 'NameConflict');
  assert.match(verdict.message, /garbage collection/);
  assert.deepEqual(verdict.actions, []);
  assert.equal(verdict.transitional, true);
});

test('what another Mysql owns is a conflict that only a person can solve', () => {
  const { verdict } = aCluster()
    .child('configMap', (made) => as(made, ofOtherMysql('other')))
    .decide();
  assert.equal(verdict.state, 'NameConflict');
  assert.equal(verdict.transitional, false);
});

test('a retained Secret with our labels and no owner is ours', () => {
  const { observed } = aCluster().online().decide().facts;
  assert.equal(observed.children.secret?.metadata?.ownerReferences, undefined);
  assert.equal(aCluster().online().decide().verdict.state, 'Healthy');
});
