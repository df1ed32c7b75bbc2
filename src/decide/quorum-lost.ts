import type { Rule } from './conclusion.ts';
import {
  acceptLossOf,
  claimingMembership,
  type Facts,
  mayAnswerSoon,
  names,
  silent,
  troubles,
} from './facts.ts';
import type { Standing } from './standing.ts';

/**
 * Members say that they are in a group, but no majority agrees. While a missing one may come back with more, wait and name it. When
 * all answer and there can be no majority any more, the group is stopped everywhere, and the next pass is a FullOutage. Nothing is
 * lost by stopping: a group without a majority acknowledges no write.
 */
export const quorumLost: Rule = (facts) => {
  if (facts.group) return undefined;
  const claiming = claimingMembership(facts);
  if (claiming.length === 0) return undefined;
  const who = `${names(claiming)} cannot form a majority`;
  const missing = silent(facts);
  if (missing.length > 0) {
    return {
      state: 'QuorumLost',
      message: `${who}. Still missing: ${troubles(missing)}. If they are gone for good, ${acceptLossOf(missing)}.`,
      transitional: mayAnswerSoon(missing),
    };
  }
  if (mayReform(claiming) && !isLongGone(facts)) {
    return {
      state: 'QuorumLost',
      message: `${who} at this moment; every member answers, so the group may be about to form again.`,
      transitional: true,
    };
  }
  return {
    state: 'QuorumLost',
    message: `${who} although every member answers: stopping the group to start it anew.`,
    transitional: true,
    actions: claiming.flatMap((standing) =>
      standing.member ? [{ do: 'leave', member: standing.member, why: 'no majority' }] : [],
    ),
  };
};

/**
 * Answers are taken one after the other: while a view changes, some tell of the old one and some of the new one, and no view has its
 * majority on paper. As long as more than half of a view's members say that they are in some group, it may be alive.
 */
const mayReform = (claiming: readonly Standing[]): boolean =>
  claiming.some(({ answer }) => {
    const peers = answer?.peers ?? [];
    const up = peers.filter((peer) => claiming.some((other) => other.answer?.uuid === peer.uuid));
    return up.length * 2 > peers.length;
  });

/** Longer than group_replication_unreachable_majority_timeout (20 s), after which members give up by themselves. */
const GIVE_UP_AFTER = 30_000;

/** Whether the status has said for long that no member accepts writes: then it is no view change. */
function isLongGone({ observed }: Facts): boolean {
  const available = observed.mysql.status?.conditions?.find(({ type }) => type === 'Available');
  return (
    available?.status === 'False' &&
    observed.at.getTime() - Date.parse(available.lastTransitionTime) > GIVE_UP_AFTER
  );
}
