import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StatefulSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Mysql } from '../resource/mysql.ts';
import { doubtAbout } from './settled.ts';
import { Summaries } from './summary.ts';

const READY_AT = '2026-01-01T00:00:00Z';

/** A cluster of three that is Healthy; each test changes one thing. */
function aCluster({ size = 3 } = {}) {
  const names = Array.from({ length: size }, (_, ordinal) => `a-${ordinal}`);
  const condition = (type: string, status: 'True' | 'False') => ({
    type,
    status,
    reason: 'Healthy',
    message: '',
    observedGeneration: 1,
    lastTransitionTime: READY_AT,
  });
  const mysql: Mysql = {
    apiVersion: 'example.com/v1alpha1',
    kind: 'Mysql',
    metadata: { name: 'a', namespace: 'shop', uid: 'u', generation: 1 },
    spec: { size, image: 'mysql:8.4' },
    status: {
      observedGeneration: 1,
      nodes: names,
      ...(size > 0 ? { primary: 'a-0' } : {}),
      conditions: [condition('Ready', 'True'), condition('Progressing', 'False')],
    },
  };
  const set: StatefulSet = {
    metadata: {
      name: 'a',
      namespace: 'shop',
      generation: 2,
      ownerReferences: [
        { apiVersion: 'example.com/v1alpha1', kind: 'Mysql', name: 'a', uid: 'u', controller: true },
      ],
    },
    spec: { replicas: size, serviceName: 'a-nodes', selector: {}, template: {} },
    status: { observedGeneration: 2, replicas: size, readyReplicas: size },
  };
  const pods: Pod[] = names.map((name, ordinal) => ({
    metadata: {
      name,
      namespace: 'shop',
      labels: {
        'mysql.example.com/cluster': 'a',
        'mysql.example.com/role': ordinal === 0 ? 'primary' : 'secondary',
      },
    },
    status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: READY_AT }] },
  }));
  return { mysql, set: set as StatefulSet | undefined, pods };
}

function doubt({ mysql, set, pods }: ReturnType<typeof aCluster>): string | undefined {
  const summaries = new Summaries();
  for (const pod of pods) summaries.addPod(pod);
  if (set) summaries.addStatefulSet(set);
  return doubtAbout(mysql, summaries.get('shop/a'));
}
const withStatus = (cluster: ReturnType<typeof aCluster>, status: Partial<Mysql['status']>) => ({
  ...cluster,
  mysql: { ...cluster.mysql, status: { ...cluster.mysql.status, ...status } },
});
const withPod = (ordinal: number, change: (pod: Pod) => Pod) => {
  const cluster = aCluster();
  return { ...cluster, pods: cluster.pods.map((pod, index) => (index === ordinal ? change(pod) : pod)) };
};
const withLabels = (pod: Pod, labels: Record<string, string>): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, labels: { 'mysql.example.com/cluster': 'a', ...labels } },
});
const withReady = (pod: Pod, status: 'True' | 'False', lastTransitionTime = READY_AT): Pod => ({
  ...pod,
  status: { conditions: [{ type: 'Ready', status, lastTransitionTime }] },
});
const withSet = (change: (set: StatefulSet) => StatefulSet) => {
  const cluster = aCluster();
  return { ...cluster, set: cluster.set && change(cluster.set) };
};

test('a Healthy cluster is settled, and so are a hibernated one and one that lost nothing but time', () => {
  assert.equal(doubt(aCluster()), undefined);
  assert.equal(doubt(aCluster({ size: 0 })), undefined);
  assert.equal(doubt(aCluster({ size: 1 })), undefined);
});

describe('a look is needed when', () => {
  const cluster = aCluster();
  const { mysql } = cluster;
  const conditions = mysql.status?.conditions ?? [];
  const changed = (type: string, status: 'True' | 'False') =>
    withStatus(cluster, {
      conditions: conditions.map((one) => (one.type === type ? { ...one, status } : one)),
    });
  const cases: Record<string, ReturnType<typeof aCluster>> = {
    'it is new': { mysql: { ...mysql, status: {} }, set: undefined, pods: [] },
    'its spec changed': { ...cluster, mysql: { ...mysql, metadata: { ...mysql.metadata, generation: 2 } } },
    'a rebuild is asked for': {
      ...cluster,
      mysql: {
        ...mysql,
        metadata: { ...mysql.metadata, annotations: { 'mysql.example.com/rebuild': 'a-1' } },
      },
    },
    'a loss is accepted': {
      ...cluster,
      mysql: {
        ...mysql,
        metadata: { ...mysql.metadata, annotations: { 'mysql.example.com/accept-data-loss': 'a-1' } },
      },
    },
    'it is not Ready': changed('Ready', 'False'),
    'something is under way': changed('Progressing', 'True'),
    'another primary is preferred': { ...cluster, mysql: { ...mysql, spec: { ...mysql.spec, primary: 1 } } },
    'its StatefulSet is gone': { ...cluster, set: undefined },
    'the StatefulSet is of an earlier Mysql': {
      ...cluster,
      mysql: { ...mysql, metadata: { ...mysql.metadata, uid: 'v' } },
    },
    'the StatefulSet was scaled by hand': withSet((set) => ({
      ...set,
      spec: { replicas: 2, serviceName: '', selector: {}, template: {} },
      status: { observedGeneration: 2, replicas: 2, readyReplicas: 2 },
    })),
    'the StatefulSet controller has not seen the last change': withSet((set) => ({
      ...set,
      metadata: { ...set.metadata, generation: 3 },
    })),
    'a pod of the StatefulSet is not ready': withSet((set) => ({
      ...set,
      status: { observedGeneration: 2, replicas: 3, readyReplicas: 2 },
    })),
    'a pod is gone': { ...cluster, pods: cluster.pods.slice(0, 2) },
    'a pod is one too many': { ...cluster, pods: [...cluster.pods, ...cluster.pods.slice(1, 2)] },
    'a pod is not ready': withPod(2, (pod) => withReady(pod, 'False')),
    'a pod is on its way out': withPod(2, (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, deletionTimestamp: READY_AT },
    })),
    'a role label was taken off': withPod(2, (pod) => withLabels(pod, {})),
    'the primary label is on another pod': { ...cluster, ...withStatus(cluster, { primary: 'a-1' }) },
    'two pods have the primary label': withPod(2, (pod) =>
      withLabels(pod, { 'mysql.example.com/role': 'primary' }),
    ),
    'fewer members are ONLINE than asked for': withStatus(cluster, { nodes: ['a-0', 'a-1'] }),
    'a pod was away since Ready was told': withPod(0, (pod) =>
      withReady(pod, 'True', '2026-01-01T00:05:00Z'),
    ),
  };
  for (const [what, unsettled] of Object.entries(cases)) {
    test(what, () => assert.equal(typeof doubt(unsettled), 'string'));
  }
});

test('a readiness probe that comes a little later than the status is no doubt', () => {
  assert.equal(doubt(withPod(0, (pod) => withReady(pod, 'True', '2026-01-01T00:00:30Z'))), undefined);
});

test('pods of clusters whose names begin alike are told apart', () => {
  const summaries = new Summaries();
  const pod = (name: string, cluster: string): Pod => ({
    metadata: { name, namespace: 'shop', labels: { 'mysql.example.com/cluster': cluster } },
  });
  for (const [name, cluster] of [
    ['a-0', 'a'],
    ['a-0-0', 'a-0'],
    ['a-1', 'a'],
  ] as const) {
    summaries.addPod(pod(name, cluster));
  }
  assert.equal(summaries.get('shop/a')?.pods, 2);
  assert.equal(summaries.get('shop/a-0')?.pods, 1);
});
