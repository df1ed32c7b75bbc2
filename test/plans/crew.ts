/** Runs many plans on several threads. */
import { Worker } from 'node:worker_threads';
import type { Verdict } from './plan.ts';

/** Plans handed to a thread at once. */
const BATCH = 20;

/** Rejects when a thread breaks. `told` is called with each verdict as it comes. */
export async function runAll(
  ids: readonly string[],
  threads: number,
  told: (verdict: Verdict) => void,
): Promise<void> {
  const waiting = [...ids];
  const work = Array.from({ length: Math.min(threads, ids.length) }, async () => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url));
    try {
      await new Promise<void>((resolve, reject) => {
        const next = () => {
          const batch = waiting.splice(0, BATCH);
          if (batch.length === 0) resolve();
          else worker.postMessage(batch);
        };
        worker.on('message', (message: Verdict | 'more') => {
          if (message === 'more') next();
          else told(message);
        });
        worker.on('error', reject);
        worker.on('exit', () => reject(new Error('a thread ended by itself')));
        next();
      });
    } finally {
      await worker.terminate();
    }
  });
  await Promise.all(work);
}
