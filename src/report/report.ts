/** Writes the status when it differs, by compare-and-swap, and then tells what changed. */
import type { Facts } from '../decide/facts.ts';
import type { Verdict } from '../decide/verdict.ts';
import type { Failure } from '../errors.ts';
import { type Cluster, identityOf } from '../kubernetes/cluster.ts';
import { announcements } from './announcements.ts';
import { sameStatus, statusOf } from './status.ts';

/**
 * The number of writes. Throws Retryable when somebody changed the Mysql meanwhile: then this status speaks of the past. The Events
 * come after the write that only one of two functions can win, so each is told once; a crash in between loses them, no more.
 */
export async function report(
  facts: Facts,
  verdict: Verdict,
  failures: readonly Failure[],
  cluster: Cluster,
  signal: AbortSignal,
): Promise<number> {
  const { mysql } = facts.observed;
  const status = statusOf(facts, verdict, failures);
  if (sameStatus(mysql.status, status)) return 0;
  await cluster.applyStatus(identityOf('Mysql', mysql), status, signal);
  const news = announcements(facts, verdict, status);
  for (const announcement of news) await cluster.announce(announcement, signal);
  return 1 + news.length;
}
