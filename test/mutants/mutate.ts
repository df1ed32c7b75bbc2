/** A copy of the project in which guards are taken away, one at a time, and what its tests say of it. The project itself is not touched. */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Guard } from './guards.ts';

/** Begins a killer that is a choice of plans: `plans WORKLOADS KINDS`. */
export const PLANS = 'plans ';
/** Milliseconds: a mutant that makes its tests hang is found too. */
const DEADLINE = 60_000;

/** The source without the guard. Throws when the guard does not stand there exactly once. */
export function without({ name, file, find, replace }: Guard, source: string): string {
  const count = source.split(find).length - 1;
  if (count !== 1) throw new Error(`${name}: its text stands ${count} times in ${file}, not once`);
  return source.replace(find, () => replace);
}

export class Copy implements Disposable {
  readonly #root: string;
  readonly #folder: string;

  /** Of all files that git knows or would add. */
  constructor(root: string) {
    this.#root = root;
    this.#folder = mkdtempSync(join(tmpdir(), 'mutant-'));
    const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    for (const file of execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).split('\0')) {
      if (file === '') continue;
      mkdirSync(dirname(join(this.#folder, file)), { recursive: true });
      cpSync(join(root, file), join(this.#folder, file));
    }
    symlinkSync(join(root, 'node_modules'), join(this.#folder, 'node_modules'));
  }

  /** Whether the killer fails while the guard is away; without a guard, on the project as it is. */
  async fails(killer: string, guard?: Guard): Promise<boolean> {
    if (!guard) return (await this.#run(killer)) !== 0;
    const file = join(this.#folder, guard.file);
    const source = readFileSync(join(this.#root, guard.file), 'utf8');
    writeFileSync(file, without(guard, source));
    try {
      return (await this.#run(killer)) !== 0;
    } finally {
      writeFileSync(file, source);
    }
  }

  #run(killer: string): Promise<number> {
    const [, only, kinds] = killer.startsWith(PLANS) ? killer.split(' ') : [];
    const args =
      only && kinds
        ? ['test/plans/main.ts', '--threads', '1', '--only', only, '--kinds', kinds]
        : ['--test', '--test-timeout=20000', killer];
    // a test runner inside a test runner would report to the outer one
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const child = spawn(process.execPath, args, {
      cwd: this.#folder,
      env,
      stdio: 'ignore',
      timeout: DEADLINE,
    });
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? 1));
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
