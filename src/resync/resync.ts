/**
 * One run: looks at every Mysql, its StatefulSet and its pods, in pages, and posts an event for each that is not provably settled. It
 * changes nothing itself; the function does the rest, as for every other event.
 */
import type { Cluster } from '../kubernetes/cluster.ts';
import type { Mysql } from '../resource/mysql.ts';
import { LABEL, type MysqlRef, refKey, refOf } from '../resource/names.ts';
import type { Post } from './post.ts';
import { hasTurn } from './schedule.ts';
import { doubtAbout } from './settled.ts';
import { Summaries } from './summary.ts';

export interface ResyncOptions {
  readonly cluster: Cluster;
  readonly post: Post;
  readonly clock: () => Date;
  /** Minutes between runs. */
  readonly period: number;
  /** Events under way at once. */
  readonly concurrency: number;
  /** Posts for every Mysql. */
  readonly all: boolean;
  /** Told of each event that could not be delivered. */
  readonly onUndelivered: (ref: MysqlRef, why: string) => void;
}

export interface ResyncResult {
  readonly mysqls: number;
  readonly settled: number;
  readonly delivered: number;
  readonly undelivered: number;
}

/** The API's own default for its clients: a page of pods is about a megabyte. */
const PAGE = 500;
const OURS = { [LABEL.app]: 'mysql', [LABEL.managedBy]: 'mysql-operator' };

/** Throws Retryable or Permanent when the API server does not give the lists; what was posted until then stays posted. */
export async function resync(options: ResyncOptions, signal: AbortSignal): Promise<ResyncResult> {
  const { cluster, post, clock, period, concurrency, all, onUndelivered } = options;
  const now = clock();
  const summaries = new Summaries();
  const tally = { mysqls: 0, settled: 0, delivered: 0, undelivered: 0 };
  await Promise.all([
    each(cluster.pages('StatefulSet', { labels: OURS, limit: PAGE }, signal), (set) =>
      summaries.addStatefulSet(set),
    ),
    each(cluster.pages('Pod', { labels: OURS, limit: PAGE }, signal), (pod) => summaries.addPod(pod)),
  ]);

  const needsLook = (mysql: Mysql): boolean =>
    all ||
    hasTurn(mysql.metadata.uid ?? '', now, period) ||
    doubtAbout(mysql, summaries.get(refKey(refOf(mysql)))) !== undefined;
  const deliver = async (ref: MysqlRef): Promise<void> => {
    const why = await post(ref, signal);
    tally[why === undefined ? 'delivered' : 'undelivered'] += 1;
    if (why !== undefined) onUndelivered(ref, why);
  };
  const underWay = new Set<Promise<void>>();
  for await (const page of cluster.pages('Mysql', { limit: PAGE }, signal)) {
    for (const mysql of page) {
      // garbage collection does the rest
      if (mysql.metadata.deletionTimestamp) continue;
      tally.mysqls += 1;
      if (!needsLook(mysql)) {
        tally.settled += 1;
        continue;
      }
      const one = deliver(refOf(mysql)).finally(() => underWay.delete(one));
      underWay.add(one);
      if (underWay.size >= concurrency) await Promise.race(underWay);
    }
  }
  await Promise.all(underWay);
  return tally;
}

async function each<T>(pages: AsyncIterable<readonly T[]>, add: (item: T) => void): Promise<void> {
  for await (const page of pages) for (const item of page) add(item);
}
