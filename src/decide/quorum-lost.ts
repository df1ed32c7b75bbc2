import type { Rule } from './conclusion.ts';
import { claimingMembership, names, silent, troubles } from './facts.ts';

/**
 * Members say that they are in a group, but no majority agrees. While a missing one may come back with more, wait and name it. When
 * all answer and there is still no majority, the group is stopped everywhere, and the next pass is a FullOutage. Nothing is lost by
 * stopping: a group without a majority acknowledges no write, and a group that is just reforming (members RECOVERING, an election
 * under way) still has a view that its majority agrees on.
 */
export const quorumLost: Rule = (facts) => {
  if (facts.group) return undefined;
  const claiming = claimingMembership(facts);
  if (claiming.length === 0) return undefined;
  const missing = silent(facts);
  if (missing.length > 0) {
    return {
      state: 'QuorumLost',
      message:
        `${names(claiming)} cannot form a majority. Waiting for ${troubles(missing)}. If they are gone for good, ` +
        `annotate with mysql.example.com/accept-data-loss: ${missing.map((one) => one.name).join(',')}.`,
      transitional: missing.some((one) => one.state === 'Unanswering'),
    };
  }
  return {
    state: 'QuorumLost',
    message: `${names(claiming)} cannot form a majority although every member answers: stopping the group to start it anew.`,
    transitional: true,
    actions: claiming.flatMap((standing) =>
      standing.member ? [{ do: 'leave', member: standing.member, why: 'no majority' }] : [],
    ),
  };
};
