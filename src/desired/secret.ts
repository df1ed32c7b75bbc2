/**
 * The Secret `<name>-credentials`: the accounts and the group's name. Created once and never overwritten; only keys that are
 * missing are added. It lives as long as the data: with retained volumes it has no owner, so that a Mysql made again under this name
 * finds the passwords of its old volumes.
 */
import { createHash } from 'node:crypto';
import type { Secret } from 'kubernetes-types/core/v1.d.ts';
import type { Mysql } from '../resource/mysql.ts';
import { ownedLabels, secretName } from '../resource/names.ts';
import { ownerReference } from './owner.ts';

export const SECRET_KEY = {
  operator: 'operator-password',
  replication: 'replication-password',
  root: 'root-password',
  groupName: 'group-name',
} as const;

/** The complete Secret, for when there is none. */
export function secret(mysql: Mysql, newPassword: () => string): Secret {
  const retained = mysql.spec.storage?.whenDeleted !== 'Delete';
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: secretName(mysql.metadata.name ?? ''),
      namespace: mysql.metadata.namespace ?? '',
      labels: ownedLabels(mysql.metadata.name ?? ''),
      ...(retained ? {} : { ownerReferences: [ownerReference(mysql)] }),
    },
    type: 'Opaque',
    data: data(mysql, newPassword),
  };
}

/**
 * Only what the live Secret lacks; undefined when it is complete. Applied with the live resourceVersion, so that a value which
 * somebody sets meanwhile is not overwritten.
 */
export function missingFrom(live: Secret, mysql: Mysql, newPassword: () => string): Secret | undefined {
  const missing = Object.values(SECRET_KEY).filter((key) => !live.data?.[key]);
  if (missing.length === 0) return undefined;
  const fresh = data(mysql, newPassword);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: live.metadata?.name ?? '', namespace: live.metadata?.namespace ?? '' },
    data: Object.fromEntries(missing.map((key) => [key, fresh[key] ?? ''])),
  };
}

function data(mysql: Mysql, newPassword: () => string): Record<string, string> {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return {
    [SECRET_KEY.operator]: base64(newPassword()),
    [SECRET_KEY.replication]: base64(newPassword()),
    [SECRET_KEY.root]: base64(newPassword()),
    [SECRET_KEY.groupName]: base64(groupName(mysql.metadata.namespace ?? '', mysql.metadata.name ?? '')),
  };
}

/**
 * A UUID (version 5 layout) from namespace and name, not from the uid: a Secret that was deleted gets the same one again, and so does
 * a Mysql made again over kept volumes.
 */
export function groupName(namespace: string, name: string): string {
  const hash = createHash('sha1').update(`mysql.example.com/${namespace}/${name}`).digest();
  const hex = Buffer.concat([
    hash.subarray(0, 6),
    Buffer.from([((hash[6] ?? 0) & 0x0f) | 0x50, hash[7] ?? 0, ((hash[8] ?? 0) & 0x3f) | 0x80]),
    hash.subarray(9, 16),
  ]).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
