/** Writes the status when it differs, by compare-and-swap, and then tells what changed. */
import type { Facts } from '../decide/facts.ts';
import type { Verdict } from '../decide/verdict.ts';
import { type Failure, Permanent, Retryable } from '../errors.ts';
import { type Cluster, identityOf } from '../kubernetes/cluster.ts';
import { announcements } from './announcements.ts';
import { sameStatus, statusOf } from './status.ts';

export interface Told {
  readonly writes: number;
  readonly failures: readonly Failure[];
}

/**
 * Fails Retryable when somebody changed the Mysql meanwhile: then this status speaks of the past. The Events come after the write that
 * only one of two functions can win, so each is told once; a crash in between loses them, no more.
 */
export async function report(
  facts: Facts,
  verdict: Verdict,
  failures: readonly Failure[],
  cluster: Cluster,
  signal: AbortSignal,
): Promise<Told> {
  const { mysql } = facts.observed;
  const status = statusOf(facts, verdict, failures);
  if (sameStatus(mysql.status, status)) return { writes: 0, failures: [] };
  let writes = 0;
  try {
    await cluster.applyStatus(identityOf('Mysql', mysql), status, signal);
    writes += 1;
    for (const announcement of announcements(facts, verdict, status)) {
      await cluster.announce(announcement, signal);
      writes += 1;
    }
    return { writes, failures: [] };
  } catch (error) {
    if (error instanceof Retryable || error instanceof Permanent) return { writes, failures: [error] };
    throw error;
  }
}
