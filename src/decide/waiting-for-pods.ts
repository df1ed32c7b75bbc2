import type { Rule } from './conclusion.ts';
import { mayAnswerSoon, names, troubles } from './facts.ts';

/**
 * Pods of the membership that do not exist or do not run, in a cluster that has its group or never had one; after that a missing
 * pod is a matter of QuorumLost or FullOutage, which name the same causes and the way out.
 */
export const waitingForPods: Rule = (facts) => {
  const { observed, group, replicas } = facts;
  if (replicas === 0) {
    return { state: 'WaitingForPods', message: 'The StatefulSet is being made.', transitional: true };
  }
  if (!group && observed.mysql.status?.bootstrap) return undefined;
  const waiting = (group ? facts.wanted : facts.members).filter(
    (standing) => standing.state === 'Missing' || standing.state === 'NotReady',
  );
  return waiting.length === 0
    ? undefined
    : {
        state: 'WaitingForPods',
        message: `Waiting for ${names(waiting)}: ${troubles(waiting)}.`,
        transitional: mayAnswerSoon(waiting),
      };
};
