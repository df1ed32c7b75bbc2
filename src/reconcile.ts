/**
 * One pass over one Mysql: observe → decide → apply → report. Level-triggered: it knows nothing of what woke it, keeps nothing
 * between passes, and over a converged Mysql writes nothing. A crash at any point leaves a state that the next pass classifies anew.
 */
import { apply } from './apply/apply.ts';
import { decide } from './decide/decide.ts';
import type { DesiredSettings } from './desired/index.ts';
import type { Failure } from './errors.ts';
import { observe, type Sources } from './observe/observe.ts';
import type { Pass } from './pass.ts';
import { report } from './report/report.ts';
import type { MysqlRef } from './resource/names.ts';

export interface Ports extends Sources {
  readonly settings: DesiredSettings;
}

/** Throws Retryable or Permanent when it could not even look; failures after that are in the Pass. */
export async function reconcile(ref: MysqlRef, ports: Ports, signal: AbortSignal): Promise<Pass> {
  const observed = await observe(ref, ports, signal);
  if (!observed) {
    return {
      state: 'Gone',
      message: 'no such Mysql',
      uid: undefined,
      writes: 0,
      again: false,
      failure: undefined,
    };
  }
  const { facts, verdict } = decide(observed, ports.settings);
  const applied = await apply(verdict, observed, ports, signal);
  const told = await report(facts, verdict, applied.failures, ports.cluster, signal);
  return {
    state: verdict.state,
    message: verdict.message,
    uid: observed.mysql.metadata.uid,
    writes: applied.writes + told.writes,
    // what was just done shows only in another look; a status that was written does not
    again: verdict.transitional || applied.writes > 0,
    failure: worst([...applied.failures, ...told.failures]),
  };
}

/** Retryable before Permanent: as long as something may still succeed, the sender is asked to try again. */
const worst = (failures: readonly Failure[]): Failure | undefined =>
  failures.find((failure) => failure.name === 'Retryable') ?? failures[0];
