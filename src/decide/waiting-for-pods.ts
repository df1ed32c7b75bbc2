import type { Conclusion, Rule } from './conclusion.ts';
import type { Facts, Standing } from './facts.ts';
import { names, troubles } from './facts.ts';

/**
 * Pods of the membership that do not exist or do not run, in a cluster that has its group or never had one; after that a missing
 * pod is a matter of QuorumLost or FullOutage, which name the same causes.
 */
export const waitingForPods: Rule = (facts) => {
  const { observed, group, replicas } = facts;
  if (replicas === 0) {
    return { state: 'WaitingForPods', message: 'The StatefulSet is being made.', transitional: true };
  }
  if (!group && observed.mysql.status?.bootstrap) return undefined;
  const members = group ? facts.wanted : facts.standings.filter((standing) => standing.ordinal < replicas);
  const waiting = members.filter((standing) => standing.state === 'Missing' || standing.state === 'NotReady');
  return waiting.length === 0 ? undefined : waitFor(facts, waiting);
};

function waitFor({ observed }: Facts, waiting: readonly Standing[]): Conclusion {
  const causes = [troubles(waiting), ...(observed.creationTrouble ? [observed.creationTrouble] : [])];
  return {
    state: 'WaitingForPods',
    message: `Waiting for ${names(waiting)}: ${causes.join('. ')}.`,
    transitional: !observed.creationTrouble && waiting.every(mayStartSoon),
  };
}

/** Pending without a complaint. What complains gets better only by a change from outside, which comes with an event of its own. */
const mayStartSoon = (standing: Standing): boolean => /^(has no|is )/.test(standing.trouble);
