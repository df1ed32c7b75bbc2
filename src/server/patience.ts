/**
 * How often the function looks at a Mysql by itself, without an event. Looks only bridge what is under way while the pod is up anyway;
 * what takes longer is brought back by nudges and the resync, so both counts have an end.
 */
import type { Pass } from '../pass.ts';

export interface Patience {
  /** Milliseconds until the first look. */
  readonly lookAgainAfter: number;
  /** Looks in a row without a hint in between. */
  readonly mostLooks: number;
}

/** What has been since the last hint. */
export interface Looks {
  readonly looks: number;
  /** Passes in a row that failed in a way that may pass. */
  readonly failures: number;
}

export interface NextLook extends Looks {
  /** Milliseconds. */
  readonly after: number;
}

export const NO_LOOKS: Looks = { looks: 0, failures: 0 };

/** The sender of the event was told to try again: these are for hints that have none, and for what came after the answer. */
const MOST_FAILURES = 3;
/** Half a second becomes five after some 150 looks, five minutes in. */
const GROWTH = 1.015;
const LONGEST = 5_000;

/** Undefined: no look, the next hint will do. */
export function nextLook(
  pass: Pass,
  so: Looks,
  { lookAgainAfter, mostLooks }: Patience,
): NextLook | undefined {
  const failures = pass.failure?.name === 'Retryable' ? so.failures + 1 : 0;
  const wanted = pass.again || (failures > 0 && failures <= MOST_FAILURES);
  if (!wanted || so.looks >= mostLooks) return undefined;
  const pause = failures > 0 ? lookAgainAfter * 2 ** (failures - 1) : lookAgainAfter * GROWTH ** so.looks;
  return { after: Math.min(pause, Math.max(LONGEST, lookAgainAfter)), looks: so.looks + 1, failures };
}
