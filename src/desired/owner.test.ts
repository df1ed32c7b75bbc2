import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LABEL } from '../resource/names.ts';
import { isOurs, ownerReference } from './owner.ts';
import { aMysql } from './testing.ts';

const mysql = aMysql();
const own = ownerReference(mysql);
const labels = { [LABEL.cluster]: 'db' };

test('garbage collection follows the reference, and it holds up no deletion', () => {
  assert.deepEqual(own, {
    apiVersion: 'example.com/v1alpha1',
    kind: 'Mysql',
    name: 'db',
    uid: 'mysql-uid',
    controller: true,
    blockOwnerDeletion: false,
  });
});

test('ours is what this very Mysql controls, with or without labels', () => {
  assert.ok(isOurs(mysql, { metadata: { ownerReferences: [own] } }));
});

test('ours is what nobody controls and carries our label, a retained Secret', () => {
  assert.ok(isOurs(mysql, { metadata: { labels } }));
  assert.ok(
    isOurs(mysql, { metadata: { labels, ownerReferences: [{ ...own, uid: 'x', controller: false }] } }),
  );
});

test('somebody else’s is what another one controls, an earlier Mysql of this name too', () => {
  assert.ok(!isOurs(mysql, { metadata: { labels, ownerReferences: [{ ...own, uid: 'earlier' }] } }));
});

test('somebody else’s is what nobody controls and carries no label of ours, or that of another cluster', () => {
  assert.ok(!isOurs(mysql, { metadata: {} }));
  assert.ok(!isOurs(mysql, { metadata: { labels: { [LABEL.cluster]: 'other' } } }));
});
