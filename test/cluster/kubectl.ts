/** kubectl as a user has it, on the cluster that KUBECONFIG names. */
import { execFile, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';

/** What kubectl said when it failed; the message holds its standard error. */
export class KubectlFailed extends Error {
  override readonly name = 'KubectlFailed';
}

/** Milliseconds; `kubectl wait` and the like bring their own. */
const DEADLINE = 300_000;

/** Standard output. Throws KubectlFailed. */
export const kubectl = (...args: readonly string[]): Promise<string> => run(args, undefined);

/** The same with `input` as its standard input (`-f -`). */
export const kubectlWith = (input: string, ...args: readonly string[]): Promise<string> => run(args, input);

function run(args: readonly string[], input: string | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      'kubectl',
      args,
      { timeout: DEADLINE, maxBuffer: 1 << 28 },
      (error, stdout, stderr) => {
        if (error) reject(new KubectlFailed(`kubectl ${args.join(' ')}: ${stderr.trim() || error.message}`));
        else resolve(stdout);
      },
    );
    child.stdin?.end(input);
  });
}

/** Lines of a kubectl that goes on until it is stopped (`get --watch`, `logs -f`). */
export function kubectlLines(args: readonly string[], onLine: (line: string) => void) {
  const child = spawn('kubectl', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  return { ended, stop: () => void child.kill() };
}

/** Asks until the answer is neither undefined nor false; throws after `seconds` with what was waited for and the last trouble. */
export async function eventually<T>(
  what: string,
  seconds: number,
  ask: () => Promise<T | undefined | false>,
): Promise<T> {
  const end = performance.now() + seconds * 1_000;
  for (let trouble: unknown; ; ) {
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      trouble = error;
    }
    if (performance.now() > end) throw new Error(`not within ${seconds} s: ${what}`, { cause: trouble });
    await pause(500);
  }
}
