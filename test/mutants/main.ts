/** `npm run mutants`: takes the guards away, one at a time, and tells which test misses each. */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Guard, guards } from './guards.ts';
import { Copy } from './mutate.ts';

const HELP = `npm run mutants -- [options]

Takes every guard of the operator away, one at a time, in a copy of the project, and runs the tests that must notice. Ends with 1 when
one survives: then a test is missing, or the guard does nothing.

  --only NAMES   comma separated
  --list         print the guards, and what each is for
  --json         print one JSON object: {"guards", "survivors", "killed", "seconds"}
  --help         this text`;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Fate {
  readonly guard: Guard;
  /** The first killer that failed; undefined for a survivor. */
  readonly killedBy: string | undefined;
  readonly seconds: number;
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    list: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) console.log(HELP);
else if (values.list) for (const { name, against } of guards) console.log(`${name.padEnd(24)} ${against}`);
else process.exitCode = await run(chosen(values.only), values.json);

function chosen(names: string | undefined): readonly Guard[] {
  return names === undefined
    ? guards
    : names.split(',').map((name) => {
        const found = guards.find((guard) => guard.name === name.trim());
        if (!found) throw new Error(`--only: there is no guard ${name}; --list prints them`);
        return found;
      });
}

async function run(all: readonly Guard[], json: boolean): Promise<number> {
  const begun = performance.now();
  const waiting = [...all];
  const fates: Fate[] = [];
  /** A killer that fails anyway proves nothing. */
  const sound = new Map<string, Promise<boolean>>();
  await Promise.all(
    Array.from({ length: Math.min(availableParallelism(), all.length) }, async () => {
      using copy = new Copy(ROOT);
      using untouched = new Copy(ROOT);
      for (let guard = waiting.shift(); guard; guard = waiting.shift()) {
        const fate = await fateOf(guard, copy, (killer) => {
          const known = sound.get(killer) ?? untouched.fails(killer).then((fails) => !fails);
          sound.set(killer, known);
          return known;
        });
        fates.push(fate);
        console.error(
          `${fates.length} of ${all.length}: ${guard.name} ${fate.killedBy ? 'killed' : 'SURVIVES'}`,
        );
      }
    }),
  );
  fates.sort((a, b) => all.indexOf(a.guard) - all.indexOf(b.guard));
  const survivors = fates.filter(({ killedBy }) => !killedBy);
  const seconds = Math.round((performance.now() - begun) / 100) / 10;
  if (json) {
    const killed = Object.fromEntries(fates.map(({ guard, killedBy }) => [guard.name, killedBy ?? null]));
    const named = survivors.map(({ guard }) => guard.name);
    console.log(JSON.stringify({ guards: all.length, survivors: named, killed, seconds }));
  } else {
    for (const { guard, killedBy, seconds: took } of fates)
      console.log(
        `${guard.name.padEnd(24)} ${(killedBy ?? 'SURVIVES').padEnd(40)} ${took.toFixed(1).padStart(6)} s`,
      );
    console.log(`\n${all.length} guards, ${survivors.length} survivors, ${seconds} s`);
  }
  return survivors.length === 0 ? 0 : 1;
}

async function fateOf(
  guard: Guard,
  copy: Copy,
  isSound: (killer: string) => Promise<boolean>,
): Promise<Fate> {
  const begun = performance.now();
  const took = () => (performance.now() - begun) / 1_000;
  for (const killer of guard.killers) {
    if (!(await isSound(killer)))
      throw new Error(`${killer} fails with every guard in its place: mend that first`);
    if (await copy.fails(killer, guard)) return { guard, killedBy: killer, seconds: took() };
  }
  return { guard, killedBy: undefined, seconds: took() };
}
