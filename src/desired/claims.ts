/** Volume claims that are smaller than spec.storage.size: each is grown by itself (docs/adr/0006). Shrinking is never asked for. */
import type { PersistentVolumeClaim } from 'kubernetes-types/core/v1.d.ts';
import type { Mysql } from '../resource/mysql.ts';
import { quantity } from './quantity.ts';
import { DEFAULT_STORAGE } from './statefulset.ts';

/** The part of the claim to apply; undefined when it is large enough. */
export function grownClaim(mysql: Mysql, live: PersistentVolumeClaim): PersistentVolumeClaim | undefined {
  const wanted = `${mysql.spec.storage?.size ?? DEFAULT_STORAGE}`;
  const has = quantity(live.spec?.resources?.requests?.storage ?? '0') ?? 0;
  if ((quantity(wanted) ?? 0) <= has) return undefined;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: live.metadata?.name ?? '', namespace: live.metadata?.namespace ?? '' },
    spec: { resources: { requests: { storage: wanted } } },
  };
}
