import { claimName } from '../resource/names.ts';
import type { Conclusion, Rule } from './conclusion.ts';
import type { Facts, Standing } from './facts.ts';
import { names } from './facts.ts';
import { switchTo } from './switching-over.ts';

/**
 * Fewer members: they leave the group first, the primary after a switchover, and only then the replicas go down. Comes after
 * Joining in the list, so all members that stay are settled.
 */
export const scalingDown: Rule = (facts) => {
  const { group, size } = facts;
  const doomed = facts.members.filter((standing) => standing.ordinal >= size);
  if (!group || doomed.length === 0) return undefined;
  const base = { state: 'ScalingDown', transitional: true } as const;
  const successor =
    facts.wanted.find((standing) => standing.ordinal === facts.observed.mysql.spec.primary) ??
    facts.wanted[0];
  if (facts.primary && facts.primary.ordinal >= size && successor) {
    return {
      ...base,
      message: `${facts.primary.name} is the primary and is to go: switching over to ${successor.name}.`,
      actions: switchTo(facts, successor),
    };
  }
  const listed = doomed.filter((standing) => standing.listed);
  const leaver = listed.findLast((standing) => standing.inGroup && standing.answer);
  if (listed.length > 0) {
    return {
      ...base,
      message: `Waiting for ${names(listed)} to leave the group.`,
      actions: leaver?.member ? [{ do: 'leave', member: leaver.member, why: `spec.size is ${size}` }] : [],
    };
  }
  return { ...base, message: `Removing ${names(doomed)}; the volumes stay.`, membership: { replicas: size } };
};

/**
 * Another size before there ever was a group. More members may always come: they are asked like the others before one starts. Of
 * those that are there only the ones whose volume is absent or younger than this Mysql may go, an older volume may hold transactions.
 */
export const resizingUnstarted: Rule = (facts) => {
  const { size, replicas, observed } = facts;
  if (facts.group || observed.mysql.status?.bootstrap || replicas === 0) return undefined;
  if (size > replicas) return growing(facts);
  const doomed = facts.members.filter((standing) => standing.ordinal >= size);
  if (doomed.length === 0 || !doomed.every((standing) => hasNoHistory(facts, standing))) return undefined;
  return {
    state: 'ScalingDown',
    message: `Removing ${names(doomed)}, which never were in a group.`,
    transitional: true,
    membership: { replicas: size },
  };
};

/** More members: the StatefulSet gets them, and they join. After a start only beside a group: an outage is judged by the members that were. */
export const scalingUp: Rule = (facts) =>
  facts.group && facts.size > facts.replicas ? growing(facts) : undefined;

const growing = ({ size, replicas }: Facts): Conclusion => ({
  state: 'ScalingUp',
  message: `Adding ${size - replicas} members to ${replicas}.`,
  transitional: true,
  membership: { replicas: size },
});

function hasNoHistory({ observed, name }: Facts, standing: Standing): boolean {
  const claim = observed.claims.find((one) => one.metadata?.name === claimName(name, standing.ordinal));
  const made = claim?.metadata?.creationTimestamp;
  const since = observed.mysql.metadata.creationTimestamp;
  return !claim || (made !== undefined && since !== undefined && Date.parse(made) >= Date.parse(since));
}
