/**
 * What every pod of the function logs while the suite runs, in one file. The pods come and go, and with them their logs: so each is
 * followed from its first line on.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { kubectl, kubectlLines } from './kubectl.ts';
import { FUNCTION_PODS, NAMESPACE } from './names.ts';

/** One pass, as the function logs it. */
export interface PassLine {
  readonly time: string;
  /** `namespace/name`. */
  readonly cluster: string;
  readonly trigger: string;
  readonly state?: string;
  readonly writes?: number;
  readonly ms: number;
  readonly msg: string;
  readonly failure?: string;
}

/** Follows until it is stopped. */
export function collectLog(file: string): { readonly stop: () => Promise<void> } {
  writeFileSync(file, '');
  const followed = new Set<string>();
  const running = new Set<{ readonly stop: () => void }>();
  let stopped = false;
  const all: Promise<void>[] = [];

  async function follow(pod: string): Promise<void> {
    // there is nothing to follow until the container has started; it is gone when the pod is
    for (let any = false; !any && !stopped; ) {
      const logs = kubectlLines(['logs', '-n', NAMESPACE, '-f', '-c', 'function', pod], (line) => {
        any = true;
        appendFileSync(file, `${line}\n`);
      });
      running.add(logs);
      await logs.ended;
      running.delete(logs);
      if (!any) await pause(300);
      if (
        !any &&
        !(await kubectl('get', '-n', NAMESPACE, '--ignore-not-found', '-o', 'name', pod).catch(() => ''))
      )
        return;
    }
  }

  async function watchPods(): Promise<void> {
    while (!stopped) {
      const args = ['get', 'pods', '-n', NAMESPACE, '-l', FUNCTION_PODS, '--watch', '-o', 'name'];
      const watching = kubectlLines(args, (pod) => {
        if (followed.has(pod)) return;
        followed.add(pod);
        all.push(follow(pod));
      });
      running.add(watching);
      await watching.ended;
      running.delete(watching);
      // a watch ends from time to time
      if (!stopped) await pause(500);
    }
  }

  all.push(watchPods());
  return {
    stop: async () => {
      stopped = true;
      for (const one of running) one.stop();
      await Promise.all(all);
    },
  };
}

/** Lines about Mysqls of this namespace so far, oldest first. */
export const passesIn = (file: string, namespace: string): PassLine[] =>
  (existsSync(file) ? readFileSync(file, 'utf8') : '')
    .split('\n')
    .filter((line) => line.includes(`"cluster":"${namespace}/`))
    .map((line) => JSON.parse(line) as PassLine);
