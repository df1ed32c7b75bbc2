/** An entry point as a real process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubeconfigFor } from '../../src/local/api/server.ts';

export interface Child extends AsyncDisposable {
  readonly process: ChildProcess;
  /** What it wrote so far. */
  readonly output: () => string;
  /** Resolves once it has written this. */
  readonly until: (pattern: RegExp) => Promise<RegExpExecArray>;
  /** Exit code. */
  readonly ended: Promise<number | null>;
}

/** Runs functions/NAME/main.ts with nothing in its environment but `env` and a kubeconfig for `api`. */
export function runFunction(
  name: 'reconcile' | 'resync',
  { args = [], env = {}, api }: { args?: readonly string[]; env?: Record<string, string>; api?: string } = {},
): Child {
  const folder = mkdtempSync(join(tmpdir(), 'child-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigFor(api ?? 'http://127.0.0.1:1'));
  const main = new URL(`../../functions/${name}/main.ts`, import.meta.url).pathname;
  const child = spawn(process.execPath, [main, ...args], { env: { KUBECONFIG: kubeconfig, ...env } });
  let output = '';
  const grown = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const look of grown) look();
    });
  }
  const ended = once(child, 'close').then(([code]): number | null => code);
  return {
    process: child,
    output: () => output,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(output);
          if (found) resolve(found);
        };
        grown.add(look);
        void ended.then(() => reject(new Error(`it ended before it wrote ${pattern}: ${output}`)));
        look();
      }),
    ended,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
