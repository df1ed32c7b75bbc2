/** What the CronJob does: it runs the resync now and then, as a process of its own, never two at once. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface ResyncJobOptions {
  readonly kubeconfig: string;
  readonly sink: string;
  /** Milliseconds. */
  readonly every: number;
  /** Told the last line that a run printed. */
  readonly onEnd: (line: string) => void;
}

const MAIN = fileURLToPath(new URL('../../functions/resync/main.ts', import.meta.url));

/** Returns how to stop, a run under way included. */
export function resyncEvery({ kubeconfig, sink, every, onEnd }: ResyncJobOptions): () => void {
  let running: ChildProcess | undefined;
  const run = () => {
    if (running) return;
    const child = spawn(process.execPath, [MAIN], {
      env: { ...process.env, KUBECONFIG: kubeconfig, K_SINK: sink, RESYNC_PERIOD_MINUTES: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    running = child;
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    child.on('error', (error) => onEnd(error.message));
    child.on('close', (code) => {
      running = undefined;
      if (code !== null) onEnd(printed.trim().split('\n').at(-1) ?? '');
    });
  };
  const timer = setInterval(run, every);
  return () => {
    clearInterval(timer);
    running?.kill();
  };
}
