/**
 * The StatefulSet. Parallel, because members must find each other to start a group; OnDelete, because the function decides which
 * member is disturbed next. Its replicas are the durable membership, so they come from a rule and not from the spec.
 */
import type { StatefulSet } from 'kubernetes-types/apps/v1.d.ts';
import type { PersistentVolumeClaim } from 'kubernetes-types/core/v1.d.ts';
import type { Mysql } from '../resource/mysql.ts';
import {
  ANNOTATION,
  nodesServiceName,
  ownedLabels,
  selectorLabels,
  statefulSetName,
} from '../resource/names.ts';
import { ownerReference } from './owner.ts';
import { podTemplate } from './pod-template.ts';
import type { Membership } from './settings.ts';

export const DEFAULT_STORAGE = '10Gi';

export function statefulSet(
  mysql: Mysql,
  membership: Membership,
  live: StatefulSet | undefined,
): StatefulSet {
  const name = mysql.metadata.name ?? '';
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      name: statefulSetName(name),
      namespace: mysql.metadata.namespace ?? '',
      labels: ownedLabels(name),
      ...(membership.noted === undefined
        ? {}
        : { annotations: { [ANNOTATION.members]: `${membership.noted}` } }),
      ownerReferences: [ownerReference(mysql)],
    },
    spec: {
      replicas: membership.replicas,
      serviceName: nodesServiceName(name),
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      revisionHistoryLimit: 3,
      persistentVolumeClaimRetentionPolicy: {
        whenDeleted: mysql.spec.storage?.whenDeleted ?? 'Retain',
        whenScaled: 'Retain',
      },
      selector: { matchLabels: selectorLabels(name) },
      template: podTemplate(mysql),
      volumeClaimTemplates: [claimTemplate(mysql, live)],
    },
  };
}

/** Immutable once live: the live size and class stay, and claims are grown one by one (claims.ts). */
function claimTemplate(mysql: Mysql, live: StatefulSet | undefined): PersistentVolumeClaim {
  const liveSpec = live?.spec?.volumeClaimTemplates?.find((claim) => claim.metadata?.name === 'data')?.spec;
  const storage = liveSpec?.resources?.requests?.storage ?? mysql.spec.storage?.size ?? DEFAULT_STORAGE;
  const storageClassName = liveSpec ? liveSpec.storageClassName : mysql.spec.storage?.storageClassName;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', labels: selectorLabels(mysql.metadata.name ?? '') },
    spec: {
      accessModes: ['ReadWriteOnce'],
      ...(storageClassName === undefined ? {} : { storageClassName }),
      resources: { requests: { storage: `${storage}` } },
    },
  };
}
