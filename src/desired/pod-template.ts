/**
 * The pod of a member. Nothing of the operator's version, no digest of a script, no address stands here, so that an upgrade of the
 * operator restarts no database; a test pins the template of the sample.
 */
import type {
  Affinity,
  Container,
  PodTemplateSpec,
  SecurityContext,
  Toleration,
  TopologySpreadConstraint,
} from 'kubernetes-types/core/v1.d.ts';
import type { Mysql } from '../resource/mysql.ts';
import {
  ANNOTATION,
  configMapName,
  GROUP_PORT_57,
  nodesServiceName,
  ownedLabels,
  SQL_PORT,
  secretName,
  selectorLabels,
} from '../resource/names.ts';
import { digest } from './digest.ts';

/** Uid and gid of the user mysql in the official image and in Debian's. */
const MYSQL_ID = 999;
/** Seconds: stop.sh hands the primary over (up to 15 s), then mysqld shuts down cleanly. */
const GRACE_SECONDS = 120;

/** Labels and annotations under it are the operator's. */
const DOMAIN = 'mysql.example.com';

const restricted: SecurityContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
};

export function podTemplate(mysql: Mysql): PodTemplateSpec {
  const name = mysql.metadata.name ?? '';
  const { podTemplate: user = {}, config } = mysql.spec;
  const annotations = {
    ...withoutOwn(user.annotations),
    ...(config && Object.keys(config).length > 0 ? { [ANNOTATION.config]: digest(config) } : {}),
  };
  return {
    metadata: {
      labels: { ...withoutOwn(user.labels), ...ownedLabels(name) },
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: GRACE_SECONDS,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: MYSQL_ID,
        runAsGroup: MYSQL_ID,
        fsGroup: MYSQL_ID,
        fsGroupChangePolicy: 'OnRootMismatch',
        seccompProfile: { type: 'RuntimeDefault' },
      },
      // the schema keeps these open, as the API server validates them when the StatefulSet is applied
      affinity: (user.affinity as Affinity | undefined) ?? spread(name),
      ...(user.nodeSelector ? { nodeSelector: user.nodeSelector } : {}),
      ...(user.tolerations ? { tolerations: user.tolerations as Toleration[] } : {}),
      ...(user.topologySpreadConstraints
        ? {
            topologySpreadConstraints:
              user.topologySpreadConstraints as unknown as TopologySpreadConstraint[],
          }
        : {}),
      ...(user.priorityClassName ? { priorityClassName: user.priorityClassName } : {}),
      ...(user.imagePullSecrets ? { imagePullSecrets: user.imagePullSecrets } : {}),
      ...(user.serviceAccountName ? { serviceAccountName: user.serviceAccountName } : {}),
      containers: [container(mysql)],
      volumes: [
        { name: 'config', configMap: { name: configMapName(name), defaultMode: 0o444 } },
        {
          name: 'credentials',
          projected: {
            defaultMode: 0o440,
            sources: [
              { secret: { name: secretName(name) } },
              ...(mysql.spec.credentialsSecret
                ? [
                    {
                      secret: {
                        name: mysql.spec.credentialsSecret,
                        items: [{ key: 'root-password', path: 'user-root-password' }],
                      },
                    },
                  ]
                : []),
            ],
          },
        },
        { name: 'tmp', emptyDir: {} },
        { name: 'run', emptyDir: {} },
      ],
    },
  };
}

/** A role in the template would make every new pod the primary of the Service. */
const withoutOwn = (labels: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => !key.startsWith(`${DOMAIN}/`)));

function container(mysql: Mysql): Container {
  const name = mysql.metadata.name ?? '';
  return {
    name: 'mysqld',
    image: mysql.spec.image,
    command: ['bash', '/etc/mysql-operator/run.sh'],
    env: [
      { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
      {
        name: 'POD_NAMESPACE',
        valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } },
      },
      { name: 'CLUSTER', value: name },
      { name: 'NODES_SERVICE', value: nodesServiceName(name) },
    ],
    ports: [
      { name: 'mysql', containerPort: SQL_PORT, protocol: 'TCP' },
      { name: 'group', containerPort: GROUP_PORT_57, protocol: 'TCP' },
    ],
    ...(mysql.spec.resources
      ? { resources: mysql.spec.resources as NonNullable<Container['resources']> }
      : {}),
    readinessProbe: {
      exec: { command: ['bash', '/etc/mysql-operator/probe.sh'] },
      periodSeconds: 2,
      timeoutSeconds: 2,
      successThreshold: 1,
      failureThreshold: 1,
    },
    lifecycle: { preStop: { exec: { command: ['bash', '/etc/mysql-operator/stop.sh'] } } },
    securityContext: restricted,
    volumeMounts: [
      { name: 'data', mountPath: '/var/lib/mysql' },
      { name: 'config', mountPath: '/etc/mysql-operator', readOnly: true },
      { name: 'credentials', mountPath: '/etc/mysql-credentials', readOnly: true },
      { name: 'tmp', mountPath: '/tmp' },
      { name: 'run', mountPath: '/var/run/mysqld' },
    ],
  };
}

/** Members avoid each other's nodes where there are enough of them. */
const spread = (name: string): Affinity => ({
  podAntiAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [
      {
        weight: 100,
        podAffinityTerm: {
          topologyKey: 'kubernetes.io/hostname',
          labelSelector: { matchLabels: selectorLabels(name) },
        },
      },
    ],
  },
});
