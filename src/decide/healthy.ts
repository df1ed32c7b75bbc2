import type { Conclusion } from './conclusion.ts';
import type { Facts } from './facts.ts';

/** Nothing is left to do: every member is ONLINE and up to date. The last rule, it always matches. */
export const healthy = (facts: Facts): Conclusion => ({
  state: 'Healthy',
  message:
    facts.size === 1
      ? `${facts.primary?.name} is ONLINE and accepts writes.`
      : `${facts.size} members are ONLINE; ${facts.primary?.name} accepts writes.`,
  transitional: false,
});
