import type { Rule } from './conclusion.ts';
import { notedMembers } from './membership.ts';

/**
 * `spec.size` 0: no pods, all data kept. The replicas go to 0 and their number is noted in one apply, so that waking brings all
 * members back before it judges who has everything (FullOutage).
 */
export const hibernation: Rule = (facts) => {
  if (facts.size !== 0) return undefined;
  if (facts.replicas > 0) {
    return {
      state: 'Hibernating',
      message: `Stopping ${facts.replicas} members; their volumes stay.`,
      transitional: true,
      // a number noted earlier stays: replicas that somebody raised by hand meanwhile say nothing about the data
      membership: { replicas: 0, noted: Math.max(facts.replicas, notedMembers(facts) ?? 0) },
    };
  }
  if (facts.observed.pods.length > 0) {
    return {
      state: 'Hibernating',
      message: `Waiting for ${facts.observed.pods.length} pods to end.`,
      transitional: true,
    };
  }
  const noted = notedMembers(facts);
  return {
    state: 'Hibernated',
    message: `No pods${noted ? `; the data of ${noted} members is kept` : ''}. Set spec.size to wake the cluster.`,
    transitional: false,
  };
};
