/** Carries out one verdict. A failing action does not keep the following ones from being tried: they do not rest on each other. */

import { inSomeGroup } from '../decide/group.ts';
import type { Action, Verdict } from '../decide/verdict.ts';
import { type Failure, Permanent, Retryable } from '../errors.ts';
import type { Access, Member } from '../mysql/members.ts';
import type { Sources } from '../observe/observe.ts';
import type { Observed } from '../observe/observed.ts';
import { memberOf } from '../observe/pods.ts';

export interface Applied {
  /** Actions that were carried out. */
  readonly writes: number;
  readonly failures: readonly Failure[];
}

/** Milliseconds after which a disruptive order no longer rests on what was observed: a process that was frozen must look again. */
const STALE_AFTER = 5_000;

export async function apply(
  verdict: Verdict,
  observed: Observed,
  sources: Sources,
  signal: AbortSignal,
): Promise<Applied> {
  const done: (Failure | undefined)[] = [];
  const attempt = async (action: Action): Promise<Failure | undefined> => {
    try {
      if (isDisruptive(action)) refuseWhenStale(observed, sources);
      await carryOut(action, observed, sources, signal);
      return undefined;
    } catch (error) {
      return error instanceof Permanent || error instanceof Retryable ? error : unexpected(error);
    }
  };
  // objects one after the other, as they build on each other; orders to members side by side, as each may take a second
  for (const action of verdict.actions.filter((one) => !isOrder(one))) done.push(await attempt(action));
  done.push(...(await Promise.all(verdict.actions.filter(isOrder).map(attempt))));
  const failures = done.filter((failure) => failure !== undefined);
  return { writes: done.length - failures.length, failures };
}

const unexpected = (cause: unknown): Retryable =>
  new Retryable(`unexpected: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });

async function carryOut(
  action: Action,
  observed: Observed,
  sources: Sources,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, members } = sources;
  switch (action.do) {
    case 'apply':
      await cluster.apply(action.kind, action.object, action.live, signal);
      return;
    case 'create':
      await cluster.create(action.kind, action.object, signal);
      return;
    case 'delete':
      return cluster.delete(action.target, { orphan: action.orphan }, signal);
    case 'relabel':
      return cluster.patchMetadata(action.target, { labels: action.labels }, signal);
    case 'removeAnnotations': {
      const annotations = Object.fromEntries(action.keys.map((key) => [key, null]));
      return cluster.patchMetadata(action.target, { annotations }, signal);
    }
    case 'bootstrap':
      await refuseWhenGrouped(observed, sources, signal);
      return members.bootstrap(action.member, accessOf(observed), action.expected, signal);
    case 'join':
      return members.join(action.member, accessOf(observed), action.seeds, signal);
    case 'rebuild':
      return members.rebuild(action.member, accessOf(observed), action.donor, signal);
    case 'leave':
      return members.leave(action.member, accessOf(observed), signal);
    case 'setPrimary':
      return members.setPrimary(action.via, accessOf(observed), action.uuid, signal);
    default:
      return action satisfies never;
  }
}

/** Everything that takes a member out of service or decides for the group. */
function isDisruptive(action: Action): boolean {
  switch (action.do) {
    case 'apply':
    case 'create':
    case 'relabel':
    case 'removeAnnotations':
    case 'join':
      return false;
    case 'delete':
    case 'bootstrap':
    case 'rebuild':
    case 'leave':
    case 'setPrimary':
      return true;
    default:
      return action satisfies never;
  }
}

/** What is told to a member, as against what is written to the API server. */
const isOrder = (action: Action): boolean => 'member' in action || action.do === 'setPrimary';

function refuseWhenStale(observed: Observed, { clock }: Sources): void {
  const age = clock().getTime() - observed.at.getTime();
  if (age > STALE_AFTER)
    throw new Retryable(`what was observed is ${age} ms old: looking again before anything is disturbed`);
}

/** The last look before a group is started: somebody else may have started it since. */
async function refuseWhenGrouped(
  observed: Observed,
  { members }: Sources,
  signal: AbortSignal,
): Promise<void> {
  const all: Member[] = observed.pods.flatMap((pod) => memberOf(observed.mysql, pod) ?? []);
  const reports = await members.report(all, accessOf(observed), signal);
  const grouped = reports.find((report) => report.answered && inSomeGroup(report));
  if (grouped) throw new Retryable(`${grouped.name} is in a group by now: not starting another one`);
}

function accessOf({ access }: Observed): Access {
  if (!access) throw new Retryable('the Secret with the accounts is not complete yet');
  return access;
}
