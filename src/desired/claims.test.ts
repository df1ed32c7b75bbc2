import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from 'kubernetes-types/core/v1.d.ts';
import { grownClaim } from './claims.ts';
import { aMysql } from './testing.ts';

const claim = (storage: string): PersistentVolumeClaim => ({
  metadata: { namespace: 'shop', name: 'data-db-0', labels: { some: 'label' } },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
});
const grown = (has: string, wanted?: string | number) =>
  grownClaim(aMysql(wanted === undefined ? {} : { storage: { size: wanted } }), claim(has));

test('a claim that is smaller than asked for grows, and nothing else of it is touched', () => {
  assert.deepEqual(grown('10Gi', '20Gi'), {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'shop', name: 'data-db-0' },
    spec: { resources: { requests: { storage: '20Gi' } } },
  });
});

test('a claim that is large enough stays, in whatever notation', () => {
  assert.equal(grown('10Gi', '10240Mi'), undefined);
  assert.equal(grown('10Gi', 10 * 2 ** 30), undefined);
  assert.equal(grown('10Gi'), undefined);
});

test('a claim is never asked to shrink', () => {
  assert.equal(grown('20Gi', '10Gi'), undefined);
});
