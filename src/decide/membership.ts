/**
 * How many members there are. The replicas of the live StatefulSet are the durable membership: a full outage is judged by
 * them and not by spec.size, so only a rule changes them.
 */
import type { Membership } from '../desired/index.ts';
import { ANNOTATION, parsePodName } from '../resource/names.ts';
import type { Facts } from './facts.ts';

/** Group Replication's own limit. */
const MOST_MEMBERS = 9;

/** What stands without a rule's say: the live replicas; without any (new, deleted by hand, hibernated) what they must be to start. */
export function standingMembership(facts: Facts): Membership {
  if (facts.size === 0 || facts.replicas > 0) {
    const noted = notedMembers(facts);
    return facts.size === 0 && noted !== undefined
      ? { replicas: facts.replicas, noted }
      : { replicas: facts.replicas };
  }
  return { replicas: notedMembers(facts) ?? Math.max(facts.size, membersWithVolumes(facts)) };
}

/** The number of members that a hibernated cluster has. Written and dropped together with the replicas, by the same apply. */
export function notedMembers({ observed }: Facts): number | undefined {
  const noted = Number(observed.children.statefulSet?.metadata?.annotations?.[ANNOTATION.members]);
  return Number.isInteger(noted) && noted > 0 ? Math.min(noted, MOST_MEMBERS) : undefined;
}

/** Kept volumes may hold transactions that no other has: whoever has a volume is a member until it has been asked. */
function membersWithVolumes({ observed }: Facts): number {
  const ordinals = observed.claims.map((claim) => parsePodName(claim.metadata?.name ?? '')?.ordinal ?? -1);
  return Math.min(Math.max(-1, ...ordinals) + 1, MOST_MEMBERS);
}
