/** A thread that runs the plans it is given, one after the other. */
import { parentPort } from 'node:worker_threads';
import { run } from './plan.ts';

parentPort?.on('message', async (ids: readonly string[]) => {
  for (const id of ids) parentPort?.postMessage(await run(id));
  parentPort?.postMessage('more');
});
