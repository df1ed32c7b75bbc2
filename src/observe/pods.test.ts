import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aMysql } from '../desired/testing.ts';
import { memberOf } from './pods.ts';

test('a pod is the member of its ordinal, at its address and under its stable name', () => {
  const pod = { metadata: { name: 'db-2' }, status: { podIP: 'fd00::2' } };
  assert.deepEqual(memberOf(aMysql(), pod), {
    name: 'db-2',
    ordinal: 2,
    address: 'fd00::2',
    host: 'db-2.db-nodes.shop.svc',
  });
});

test('a pod without an address is none yet, and one without an ordinal never', () => {
  assert.equal(memberOf(aMysql(), { metadata: { name: 'db-2' } }), undefined);
  assert.equal(memberOf(aMysql(), { metadata: { name: 'db-x' }, status: { podIP: '10.0.0.1' } }), undefined);
});
