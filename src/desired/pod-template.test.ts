import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { ANNOTATION, LABEL } from '../resource/names.ts';
import { podTemplate } from './pod-template.ts';
import { aMysql } from './testing.ts';

const labels = {
  app: 'mysql',
  'app.kubernetes.io/instance': 'db',
  'app.kubernetes.io/managed-by': 'mysql-operator',
  'app.kubernetes.io/name': 'mysql',
  'mysql.example.com/cluster': 'db',
};

/** Every member of every cluster restarts once this changes: an operator's upgrade must not do that without need. */
const PINNED: PodTemplateSpec = {
  metadata: { labels },
  spec: {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 120,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 999,
      runAsGroup: 999,
      fsGroup: 999,
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    },
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 100,
            podAffinityTerm: {
              topologyKey: 'kubernetes.io/hostname',
              labelSelector: { matchLabels: { app: 'mysql', 'mysql.example.com/cluster': 'db' } },
            },
          },
        ],
      },
    },
    containers: [
      {
        name: 'mysqld',
        image: 'mysql:8.4',
        command: ['bash', '/etc/mysql-operator/run.sh'],
        env: [
          { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
          {
            name: 'POD_NAMESPACE',
            valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } },
          },
          { name: 'CLUSTER', value: 'db' },
          { name: 'NODES_SERVICE', value: 'db-nodes' },
        ],
        ports: [
          { name: 'mysql', containerPort: 3306, protocol: 'TCP' },
          { name: 'group', containerPort: 33061, protocol: 'TCP' },
        ],
        readinessProbe: {
          exec: { command: ['bash', '/etc/mysql-operator/probe.sh'] },
          periodSeconds: 2,
          timeoutSeconds: 2,
          successThreshold: 1,
          failureThreshold: 1,
        },
        lifecycle: { preStop: { exec: { command: ['bash', '/etc/mysql-operator/stop.sh'] } } },
        securityContext: {
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
          readOnlyRootFilesystem: true,
        },
        volumeMounts: [
          { name: 'data', mountPath: '/var/lib/mysql' },
          { name: 'config', mountPath: '/etc/mysql-operator', readOnly: true },
          { name: 'credentials', mountPath: '/etc/mysql-credentials', readOnly: true },
          { name: 'tmp', mountPath: '/tmp' },
          { name: 'run', mountPath: '/var/run/mysqld' },
        ],
      },
    ],
    volumes: [
      { name: 'config', configMap: { name: 'db-config', defaultMode: 0o444 } },
      {
        name: 'credentials',
        projected: { defaultMode: 0o440, sources: [{ secret: { name: 'db-credentials' } }] },
      },
      { name: 'tmp', emptyDir: {} },
      { name: 'run', emptyDir: {} },
    ],
  },
};

test('the template of a plain Mysql is pinned', () => {
  assert.deepEqual(podTemplate(aMysql()), PINNED);
});

describe('spec.podTemplate', () => {
  test('is taken over field by field', () => {
    const user = {
      nodeSelector: { disk: 'ssd' },
      affinity: { nodeAffinity: {} },
      tolerations: [{ key: 'db', operator: 'Exists' }],
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
      priorityClassName: 'high',
      imagePullSecrets: [{ name: 'registry' }],
      serviceAccountName: 'db',
    };
    const { spec } = podTemplate(aMysql({ podTemplate: user }));
    assert.deepEqual({ ...PINNED.spec, ...user }, spec);
  });

  test('adds labels and annotations; the operator’s own win', () => {
    const { metadata } = podTemplate(
      aMysql({ podTemplate: { labels: { team: 'shop', app: 'mine' }, annotations: { note: 'x' } } }),
    );
    assert.deepEqual(metadata, { labels: { ...labels, team: 'shop' }, annotations: { note: 'x' } });
  });

  test('cannot give a role: every new pod would be the primary of the Service', () => {
    const { metadata } = podTemplate(
      aMysql({
        podTemplate: {
          labels: { [LABEL.role]: 'primary', [LABEL.reads]: 'true' },
          annotations: { [ANNOTATION.config]: 'x' },
        },
      }),
    );
    assert.deepEqual(metadata, { labels });
  });
});

test('another variable in spec.config is another template, another order of them is not', () => {
  const annotation = (config: Record<string, string>) =>
    podTemplate(aMysql({ config })).metadata?.annotations?.[ANNOTATION.config];
  const first = annotation({ max_connections: '500', wait_timeout: '60' });
  assert.match(first ?? '', /^[0-9a-f]{16}$/);
  assert.equal(annotation({ wait_timeout: '60', max_connections: '500' }), first);
  assert.notEqual(annotation({ max_connections: '501', wait_timeout: '60' }), first);
  assert.equal(annotation({}), undefined);
});

test('resources go to the container as they are', () => {
  const resources = { limits: { memory: '1Gi' }, requests: { cpu: 0.5 } };
  assert.deepEqual(podTemplate(aMysql({ resources })).spec?.containers[0]?.resources, resources);
});

test('a Secret of the user gives root’s password, beside the generated ones', () => {
  const volume = podTemplate(aMysql({ credentialsSecret: 'mine' })).spec?.volumes?.find(
    ({ name }) => name === 'credentials',
  );
  assert.deepEqual(volume?.projected?.sources, [
    { secret: { name: 'db-credentials' } },
    { secret: { name: 'mine', items: [{ key: 'root-password', path: 'user-root-password' }] } },
  ]);
});
