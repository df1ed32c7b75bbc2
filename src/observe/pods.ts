/** Pods as the members that they are. */
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Member } from '../mysql/members.ts';
import type { Mysql } from '../resource/mysql.ts';
import { parsePodName, podHost, refOf } from '../resource/names.ts';

/** Undefined for a pod that has no address (yet). */
export function memberOf(mysql: Mysql, pod: Pod): Member | undefined {
  const name = pod.metadata?.name ?? '';
  const ordinal = parsePodName(name)?.ordinal;
  const address = pod.status?.podIP;
  if (ordinal === undefined || !address) return undefined;
  return { name, ordinal, address, host: podHost(refOf(mysql), name) };
}
