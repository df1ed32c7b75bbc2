import type { Rule } from './conclusion.ts';
import { claimingMembership, names, troubles } from './facts.ts';

/**
 * A member believes in another group than the majority's: one that was paused and woke, or the loser of a split. It is told to
 * leave, which also fences it. Only one that says ONLINE: a member that is just joining may know the new view before we hear of it
 * from the others.
 */
export const callingBack: Rule = (facts) => {
  if (!facts.group) return undefined;
  const strays = claimingMembership(facts).filter(
    (standing) => !standing.listed && standing.answer?.state === 'ONLINE',
  );
  const stray = strays.find((standing) => standing.member);
  return stray?.member
    ? {
        state: 'Joining',
        message: `${names(strays)} believes in another group than the majority: calling it back.`,
        transitional: true,
        actions: [{ do: 'leave', member: stray.member, why: 'its group has no majority' }],
      }
    : undefined;
};

/**
 * The group is there, but a member is not ONLINE in it yet, or it has no primary at this moment. The joins themselves are a duty
 * (duties.ts). The rules after this one may count on every member that stays.
 */
export const joining: Rule = (facts) => {
  if (!facts.group) return undefined;
  const absent = facts.wanted.filter((standing) => !standing.settled);
  if (absent.length === 0 && facts.primary) return undefined;
  return {
    state: 'Joining',
    message:
      absent.length > 0
        ? `Waiting for ${names(absent)} to be ONLINE: ${troubles(absent)}.`
        : 'Waiting for the group to elect a primary.',
    transitional: true,
  };
};
