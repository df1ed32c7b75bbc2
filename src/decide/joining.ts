import type { Rule } from './conclusion.ts';
import { claimingMembership, names, troubles } from './facts.ts';

/**
 * The group is there, but a member is not ONLINE in it yet, or it has no primary at this moment. The joins themselves are a duty
 * (duties.ts). A member that still believes in another group is told to leave it: its view has no majority.
 */
export const joining: Rule = (facts) => {
  if (!facts.group) return undefined;
  const absent = facts.wanted.filter((standing) => !(standing.inGroup && standing.state === 'ONLINE'));
  const strays = claimingMembership(facts).filter((standing) => !standing.inGroup);
  if (absent.length === 0 && strays.length === 0 && facts.primary) return undefined;
  const stray = strays.find((standing) => standing.member);
  return {
    state: 'Joining',
    message:
      absent.length > 0
        ? `Waiting for ${names(absent)} to be ONLINE: ${troubles(absent)}.`
        : 'Waiting for the group to elect a primary.',
    transitional: true,
    ...(stray?.member
      ? { actions: [{ do: 'leave' as const, member: stray.member, why: 'its group has no majority' }] }
      : {}),
  };
};
