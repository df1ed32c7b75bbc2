import { identityOf } from '../kubernetes/cluster.ts';
import type { Conclusion, Rule } from './conclusion.ts';
import type { Facts, Standing } from './facts.ts';
import { switchTo } from './switching-over.ts';

/**
 * An outdated pod that does not serve is replaced first: disturbing it costs nothing, and so a corrected image heals without hands.
 * A pod that runs is only touched when the majority is elsewhere or there never was a group; without one it may be the last to know. It
 * may also be about to serve again, so it is left alone until what it would become has been seen to serve.
 */
export const replacingBroken: Rule = (facts) => {
  const mayTouchRunning = facts.group ? isProven(facts) : !facts.observed.mysql.status?.bootstrap;
  const broken = facts.standings.find(
    (standing) =>
      standing.outdated &&
      !standing.leaving &&
      (standing.state === 'NotReady' || (mayTouchRunning && !serves(standing) && !standing.answer?.cloning)),
  );
  return broken && replace(broken, 'does not serve and is outdated: replacing it');
};

/** No member of the new revision, or about to be of it, fails to serve. */
const isProven = (facts: Facts): boolean =>
  facts.wanted.every(
    (standing) =>
      serves(standing) || (standing.outdated && !standing.leaving && standing.state !== 'Missing'),
  );

/**
 * Outdated pods of a group in which every member is settled (Joining comes before): the secondaries one at a time, then the primary is
 * handed over to a member that is up to date, then the old one goes.
 */
export const rollingOut: Rule = (facts) => {
  const outdated = facts.wanted.filter((standing) => standing.outdated);
  if (!facts.group || outdated.length === 0) return undefined;
  const secondary = outdated.findLast((standing) => standing.ordinal !== facts.primary?.ordinal);
  if (secondary) return replace(secondary, `is outdated: replacing it (${outdated.length} to go)`);
  const successor = successorOf(facts);
  if (successor && facts.primary) {
    return {
      state: 'RollingOut',
      message: `Only the primary ${facts.primary.name} is outdated: switching over to ${successor.name} first.`,
      transitional: true,
      actions: switchTo(facts, successor),
    };
  }
  return (
    outdated[0] && replace(outdated[0], 'is outdated and has no other member to hand over to: replacing it')
  );
};

/** The last rule, as nothing else rests on it: which pods are outdated is not known yet. */
export const awaitingRevision: Rule = (facts) =>
  facts.awaitsController
    ? {
        state: 'RollingOut',
        message: 'Waiting for the StatefulSet controller to take up the newest change.',
        transitional: true,
      }
    : undefined;

const serves = (standing: Standing): boolean =>
  standing.inGroup && (standing.state === 'ONLINE' || standing.state === 'RECOVERING');

function successorOf(facts: Facts): Standing | undefined {
  const fresh = facts.wanted.filter((standing) => !standing.outdated);
  return fresh.find((standing) => standing.ordinal === facts.observed.mysql.spec.primary) ?? fresh[0];
}

function replace({ name, pod }: Standing, why: string): Conclusion {
  return {
    state: 'RollingOut',
    message: `${name} ${why}.`,
    transitional: true,
    actions: pod ? [{ do: 'delete', target: identityOf('Pod', pod), orphan: false, why: 'outdated' }] : [],
  };
}
