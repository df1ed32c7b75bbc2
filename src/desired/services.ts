/** Three Services: one name per pod, one for writing, one for reading. */
import type { Service } from 'kubernetes-types/core/v1.d.ts';
import type { Mysql } from '../resource/mysql.ts';
import {
  LABEL,
  nodesServiceName,
  ownedLabels,
  primaryServiceName,
  readServiceName,
  SQL_PORT,
  selectorLabels,
} from '../resource/names.ts';
import { ownerReference } from './owner.ts';

/** Headless: gives each pod its stable DNS name, also while it is not ready, because members must find each other to become so. */
export const nodesService = (mysql: Mysql): Service =>
  service(mysql, nodesServiceName(mysql.metadata.name ?? ''), {
    clusterIP: 'None',
    publishNotReadyAddresses: true,
    selector: selectorLabels(mysql.metadata.name ?? ''),
  });

/** The writable primary. Not-ready pods are published: the label alone decides, and it comes from the group's majority. */
export const primaryService = (mysql: Mysql): Service =>
  service(mysql, primaryServiceName(mysql.metadata.name ?? ''), {
    publishNotReadyAddresses: true,
    selector: { ...selectorLabels(mysql.metadata.name ?? ''), [LABEL.role]: 'primary' },
  });

/** ONLINE secondaries, and the primary when it is alone; a pod that is not ready gets no reads. */
export const readService = (mysql: Mysql): Service =>
  service(mysql, readServiceName(mysql.metadata.name ?? ''), {
    selector: { ...selectorLabels(mysql.metadata.name ?? ''), [LABEL.reads]: 'true' },
  });

function service(mysql: Mysql, name: string, spec: NonNullable<Service['spec']>): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name,
      namespace: mysql.metadata.namespace ?? '',
      labels: ownedLabels(mysql.metadata.name ?? ''),
      ownerReferences: [ownerReference(mysql)],
    },
    spec: {
      ...spec,
      ipFamilyPolicy: 'PreferDualStack',
      ports: [{ name: 'mysql', port: SQL_PORT, protocol: 'TCP', targetPort: SQL_PORT }],
    },
  };
}
