import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownerReference } from './owner.ts';
import { nodesService, primaryService, readService } from './services.ts';
import { aMysql } from './testing.ts';

const mysql = aMysql();
const cluster = { app: 'mysql', 'mysql.example.com/cluster': 'db' };

test('the nodes Service names every pod, also while it is not ready: members must find each other to become so', () => {
  const { metadata, spec } = nodesService(mysql);
  assert.equal(metadata?.name, 'db-nodes');
  assert.deepEqual(spec, {
    clusterIP: 'None',
    publishNotReadyAddresses: true,
    ipFamilyPolicy: 'PreferDualStack',
    selector: cluster,
    ports: [{ name: 'mysql', port: 3306, protocol: 'TCP', targetPort: 3306 }],
  });
});

test('the Service of the cluster’s name leads to the primary by its label alone', () => {
  const { metadata, spec } = primaryService(mysql);
  assert.equal(metadata?.name, 'db');
  assert.equal(spec?.clusterIP, undefined);
  assert.equal(spec?.publishNotReadyAddresses, true);
  assert.deepEqual(spec?.selector, { ...cluster, 'mysql.example.com/role': 'primary' });
});

test('the read Service leads to pods that take reads and are ready', () => {
  const { metadata, spec } = readService(mysql);
  assert.equal(metadata?.name, 'db-read');
  assert.equal(spec?.publishNotReadyAddresses, undefined);
  assert.deepEqual(spec?.selector, { ...cluster, 'mysql.example.com/reads': 'true' });
});

test('all three belong to the Mysql', () => {
  for (const service of [nodesService, primaryService, readService].map((make) => make(mysql))) {
    assert.deepEqual(service.metadata?.ownerReferences, [ownerReference(mysql)]);
    assert.equal(service.metadata?.labels?.['app.kubernetes.io/managed-by'], 'mysql-operator');
  }
});
