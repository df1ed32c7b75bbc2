import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StatefulSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Mysql } from '../resource/mysql.ts';
import { ANNOTATION } from '../resource/names.ts';
import { ownerReference } from './owner.ts';
import { podTemplate } from './pod-template.ts';
import { statefulSet } from './statefulset.ts';
import { aMysql } from './testing.ts';

const made = (mysql: Mysql, live?: StatefulSet) => statefulSet(mysql, { replicas: mysql.spec.size }, live);
const claimSpec = (set: StatefulSet) => set.spec?.volumeClaimTemplates?.[0]?.spec;

test('starts its pods side by side and replaces none by itself', () => {
  const mysql = aMysql();
  const { template, volumeClaimTemplates, ...spec } = made(mysql).spec ?? {};
  assert.deepEqual(spec, {
    replicas: 3,
    serviceName: 'db-nodes',
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'OnDelete' },
    revisionHistoryLimit: 3,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    selector: { matchLabels: { app: 'mysql', 'mysql.example.com/cluster': 'db' } },
  });
  assert.deepEqual(template, podTemplate(mysql));
  assert.equal(volumeClaimTemplates?.length, 1);
  assert.deepEqual(made(mysql).metadata?.ownerReferences, [ownerReference(mysql)]);
});

test('has the members that the rules decided on, not spec.size', () => {
  const set = statefulSet(aMysql({ size: 5 }), { replicas: 3 }, undefined);
  assert.equal(set.spec?.replicas, 3);
  assert.equal(set.metadata?.annotations, undefined);
});

test('notes its members while it has none', () => {
  const set = statefulSet(aMysql({ size: 0 }), { replicas: 0, noted: 3 }, undefined);
  assert.deepEqual([set.spec?.replicas, set.metadata?.annotations], [0, { [ANNOTATION.members]: '3' }]);
});

test('volumes go with the Mysql only when that is asked for, and never with a member', () => {
  const set = made(aMysql({ storage: { whenDeleted: 'Delete' } }));
  assert.deepEqual(set.spec?.persistentVolumeClaimRetentionPolicy, {
    whenDeleted: 'Delete',
    whenScaled: 'Retain',
  });
});

describe('the template of the volumes', () => {
  test('has size and class as asked for, 10Gi without a word', () => {
    assert.deepEqual(claimSpec(made(aMysql({ storage: { size: '5Gi', storageClassName: 'fast' } }))), {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'fast',
      resources: { requests: { storage: '5Gi' } },
    });
    assert.deepEqual(claimSpec(made(aMysql())), {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '10Gi' } },
    });
  });

  test('stays what it is once it is live, as it is immutable', () => {
    const live = made(aMysql({ storage: { size: '5Gi', storageClassName: 'fast' } }));
    const grown = made(aMysql({ storage: { size: '50Gi', storageClassName: 'slow' } }), live);
    assert.deepEqual(grown.spec?.volumeClaimTemplates, live.spec?.volumeClaimTemplates);
    const plain = made(aMysql());
    assert.deepEqual(
      claimSpec(made(aMysql({ storage: { storageClassName: 'fast' } }), plain)),
      claimSpec(plain),
    );
  });
});
