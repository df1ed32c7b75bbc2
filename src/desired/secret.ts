/**
 * The Secret `<name>-credentials`: the accounts and the group's name. Created once; a value that is there is never replaced. It lives as
 * long as the data: with retained volumes it has no owner, so that a Mysql made again under this name finds the passwords of its old
 * volumes.
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
type SecretKey = (typeof SECRET_KEY)[keyof typeof SECRET_KEY];
const KEYS: readonly SecretKey[] = Object.values(SECRET_KEY);

/** The Secret for when there is none. Without an owner: what a create sets, a later apply could not take away again. */
export const newSecret = (mysql: Mysql, newPassword: () => string): Secret =>
  secretWith({}, mysql, newPassword);

/**
 * The Secret with the keys that the live one lacks and the owner that it should have; undefined when nothing is amiss. All live values
 * stand in it, as an apply takes away what an earlier one set; with the live resourceVersion none that was set meanwhile is overwritten.
 */
export function mendedSecret(live: Secret, mysql: Mysql, newPassword: () => string): Secret | undefined {
  const owned = live.metadata?.ownerReferences?.some((owner) => owner.uid === mysql.metadata.uid) ?? false;
  const shouldBeOwned = mysql.spec.storage?.whenDeleted === 'Delete';
  if (KEYS.every((key) => live.data?.[key]) && owned === shouldBeOwned) return undefined;
  const object = secretWith(live.data ?? {}, mysql, newPassword);
  return shouldBeOwned
    ? { ...object, metadata: { ...object.metadata, ownerReferences: [ownerReference(mysql)] } }
    : object;
}

/** What stands under a key, decoded; undefined when it is absent or empty. */
export function valueIn(secret: Secret | undefined, key: SecretKey): string | undefined {
  const value = secret?.data?.[key];
  // a file that kubectl made a Secret of ends in a line break; the pod's scripts read without it too
  return value ? Buffer.from(value, 'base64').toString('utf8').replace(/\n+$/, '') : undefined;
}

function secretWith(
  known: Readonly<Record<string, string>>,
  mysql: Mysql,
  newPassword: () => string,
): Secret {
  const { namespace = '', name = '' } = mysql.metadata;
  const fresh = (key: SecretKey) =>
    Buffer.from(key === SECRET_KEY.groupName ? groupName(namespace, name) : newPassword()).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secretName(name), namespace, labels: ownedLabels(name) },
    data: Object.fromEntries(KEYS.map((key) => [key, known[key] || fresh(key)])),
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
