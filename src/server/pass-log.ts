/** One line a pass, and the deadline under which it runs. */
import type { Logger } from 'pino';
import { Permanent, Retryable } from '../errors.ts';
import type { Pass } from '../pass.ts';
import { type MysqlRef, refKey } from '../resource/names.ts';

export type Reconcile = (ref: MysqlRef, signal: AbortSignal) => Promise<Pass>;

/** Runs passes for the queue. `deadline` in milliseconds: one cluster that hangs must not hold its place for ever. */
export function logged(reconcile: Reconcile, log: Logger, deadline: number) {
  return async (ref: MysqlRef, trigger: string): Promise<Pass> => {
    const started = performance.now();
    const tell = (pass: Partial<Pass>, error?: unknown) =>
      log[error || pass.failure ? 'warn' : 'info'](
        {
          cluster: refKey(ref),
          uid: pass.uid,
          trigger,
          state: pass.state,
          writes: pass.writes,
          ms: Math.round(performance.now() - started),
          ...(pass.failure ? { failure: pass.failure.message } : {}),
          ...(error ? { err: error } : {}),
        },
        pass.message ?? 'pass failed',
      );
    try {
      const pass = await reconcile(ref, AbortSignal.timeout(deadline));
      tell(pass);
      return pass;
    } catch (error) {
      if (!(error instanceof Retryable || error instanceof Permanent)) {
        tell({}, error);
        throw error;
      }
      const pass: Pass = {
        state: 'Unknown',
        message: error.message,
        uid: undefined,
        writes: 0,
        again: false,
        failure: error,
      };
      tell(pass);
      return pass;
    }
  };
}
