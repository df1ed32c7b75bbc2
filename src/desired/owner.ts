/** Who owns what: the reference that garbage collection follows, and the test whether a live object is ours. */
import type { OwnerReference } from 'kubernetes-types/meta/v1.d.ts';
import type { KubernetesObject } from '../kubernetes/cluster.ts';
import type { Mysql } from '../resource/mysql.ts';
import { API_VERSION, KIND, LABEL } from '../resource/names.ts';

/** blockOwnerDeletion stays false: it would need the permission to set finalizers, and nothing here may hold up a deletion. */
export const ownerReference = (mysql: Mysql): OwnerReference => ({
  apiVersion: API_VERSION,
  kind: KIND,
  name: mysql.metadata.name ?? '',
  uid: mysql.metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: false,
});

/**
 * An object of our name is ours when this very Mysql controls it, or when nobody does and it carries our label (a retained
 * Secret). One that an earlier Mysql of this name still owns is not: garbage collection is about to take it.
 */
export function isOurs(mysql: Mysql, object: KubernetesObject): boolean {
  const controller = object.metadata?.ownerReferences?.find((owner) => owner.controller);
  if (controller) return controller.uid === mysql.metadata.uid;
  return object.metadata?.labels?.[LABEL.cluster] === mysql.metadata.name;
}
