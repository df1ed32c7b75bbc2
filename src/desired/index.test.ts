import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aCluster, settings } from '../decide/testing.ts';
import type { Observed } from '../observe/observed.ts';
import { ANNOTATION } from '../resource/names.ts';
import { changes } from './index.ts';

const membership = { replicas: 3 };
const inWords = (observed: Observed) =>
  changes(observed, membership, settings).map(
    ({ verb, kind, object }) => `${verb} ${kind} ${object.metadata?.name}`,
  );

const settled = (): Observed => aCluster().observed();

const NONE: Observed['children'] = {
  statefulSet: undefined,
  primaryService: undefined,
  readService: undefined,
  nodesService: undefined,
  secret: undefined,
  configMap: undefined,
  disruptionBudget: undefined,
};

test('a new Mysql gets all its objects, what pods need before the pods', () => {
  const observed = { ...aCluster().observed(), children: NONE, claims: [], access: undefined };
  assert.deepEqual(inWords(observed), [
    'create Secret db-credentials',
    'apply ConfigMap db-config',
    'apply Service db-nodes',
    'apply Service db',
    'apply Service db-read',
    'apply PodDisruptionBudget db',
    'apply StatefulSet db',
  ]);
});

test('a settled one gets no write', () => {
  assert.deepEqual(inWords(settled()), []);
});

describe('one write for', () => {
  const edited = (change: (children: Observed['children']) => Partial<Observed['children']>): Observed => {
    const observed = settled();
    return { ...observed, children: { ...observed.children, ...change(observed.children) } };
  };

  test('an object that is gone', () => {
    assert.deepEqual(inWords(edited(() => ({ readService: undefined }))), ['apply Service db-read']);
  });

  test('a field that somebody changed, on that very object', () => {
    const observed = edited(({ statefulSet }) => ({
      statefulSet: { ...statefulSet, metadata: { ...statefulSet?.metadata, labels: {} } },
    }));
    assert.deepEqual(inWords(observed), ['apply StatefulSet db']);
    assert.equal(
      changes(observed, membership, settings)[0]?.live?.uid,
      observed.children.statefulSet?.metadata?.uid,
    );
  });

  test('a field that is no longer wanted: the digest differs though the object still holds all that is', () => {
    const observed = edited(({ configMap }) => ({
      configMap: {
        ...configMap,
        metadata: {
          ...configMap?.metadata,
          annotations: { [ANNOTATION.applied]: 'of an intent with one more field' },
        },
        data: { ...configMap?.data, 'old.sh': '' },
      },
    }));
    assert.deepEqual(inWords(observed), ['apply ConfigMap db-config']);
  });

  test('a Secret that lacks a key, as an apply on the live one', () => {
    const observed = edited(({ secret }) => ({
      secret: { ...secret, data: { ...secret?.data, 'root-password': '' } },
    }));
    assert.deepEqual(inWords(observed), ['apply Secret db-credentials']);
    assert.ok(changes(observed, membership, settings)[0]?.live);
  });

  test('each volume that is too small', () => {
    const observed = settled();
    const mysql = { ...observed.mysql, spec: { ...observed.mysql.spec, storage: { size: '20Gi' } } };
    assert.deepEqual(inWords({ ...observed, mysql }), [
      'apply PersistentVolumeClaim data-db-0',
      'apply PersistentVolumeClaim data-db-1',
      'apply PersistentVolumeClaim data-db-2',
    ]);
  });
});

test('a custom group name stays in my.cnf while another key of the Secret is missing', () => {
  const observed = settled();
  const custom = '11111111-2222-5333-8444-555555555555';
  const data = { 'group-name': Buffer.from(custom).toString('base64') };
  const children = { ...observed.children, secret: { ...observed.children.secret, data } };
  const [, configMap] = changes({ ...observed, children, access: undefined }, membership, settings);
  assert.match(JSON.stringify(configMap?.object), new RegExp(custom));
});

test('drains may take one member at a time', () => {
  const budget = settled().children.disruptionBudget;
  assert.deepEqual(budget?.spec, {
    maxUnavailable: 1,
    selector: { matchLabels: { app: 'mysql', 'mysql.example.com/cluster': 'db' } },
  });
});
