/** `npm run plans`: all plans on all cores, or one of them with its trace. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { runAll } from './crew.ts';
import { KINDS } from './kinds.ts';
import { kindOf, plansOf, run, SEQUENCES, sequences, thinned, type Verdict } from './plan.ts';
import { tableOf, tallyBy } from './table.ts';
import { WORKLOADS, workloadOf } from './workloads.ts';

const HELP = `npm run plans -- [options]

Runs the real function (event, queue, observe, decide, apply, report) on the embedded cluster and a model of Group Replication, makes one
thing or several go wrong in each run, and compares the end with that of an undisturbed run. Ends with 1 when any plan diverges.

  --plan ID         run one plan and print all that happens in it, for example create/crash-after/write=7
  --only WORKLOADS  comma separated: ${[...WORKLOADS.map(({ name }) => name), SEQUENCES].join(', ')}
  --kinds KINDS     comma separated:
${KINDS.map(({ name, about }) => `                      ${name.padEnd(13)} ${about}`).join('\n')}
  --combined N      plans of kind combined for each workload (default 100)
  --sequences N     random sequences of specs, each against the last of them from scratch (default 1000; without --kinds only)
  --seed N          the first of their seeds (default 1); a plan's id has its own and replays it
  --limit N         run about N plans, evenly chosen from all
  --threads N       (default: one for each core, ${availableParallelism()} here)
  --json            print one JSON object: {"plans", "divergences", "byKind", "seconds", "seed", "diverging"}
  --help            this text`;

class Misused extends Error {}

interface Options {
  readonly plan: string | undefined;
  readonly json: boolean;
  readonly limit: number;
  readonly threads: number;
  readonly combined: number;
  readonly sequences: number;
  readonly seed: number;
  readonly only: string | undefined;
  readonly kinds: string | undefined;
}

function read(args: readonly string[]): Options | 'help' {
  let values: Record<string, string | boolean | undefined>;
  try {
    const text = { type: 'string' } as const;
    const flag = { type: 'boolean' } as const;
    const options = {
      ...{
        plan: text,
        only: text,
        kinds: text,
        combined: text,
        sequences: text,
        seed: text,
        limit: text,
        threads: text,
      },
      ...{ json: flag, help: flag },
    };
    values = parseArgs({ args: [...args], options }).values;
  } catch (cause) {
    throw new Misused((cause as Error).message, { cause });
  }
  if (values.help) return 'help';
  const number = (name: string, otherwise: number): number => {
    const value = values[name] === undefined ? otherwise : Number(values[name]);
    if (!Number.isInteger(value) || value < 0)
      throw new Misused(`--${name} must be a whole number, not ${values[name]}`);
    return value;
  };
  const text = (name: string) => (typeof values[name] === 'string' ? values[name] : undefined);
  return {
    plan: text('plan'),
    only: text('only'),
    kinds: text('kinds'),
    json: values.json === true,
    combined: number('combined', 100),
    sequences: number('sequences', 1_000),
    seed: number('seed', 1),
    limit: number('limit', Number.MAX_SAFE_INTEGER),
    threads: Math.max(1, number('threads', availableParallelism())),
  };
}

/** The named ones, or all. */
function chosen<T>(
  names: readonly string[] | undefined,
  all: readonly T[],
  find: (name: string) => T,
): readonly T[] {
  try {
    return names === undefined ? all : names.map(find);
  } catch (cause) {
    throw new Misused((cause as Error).message, { cause });
  }
}

async function runOne(id: string): Promise<number> {
  const { faults } = await run(id, (line) => console.log(line)).catch((cause: Error) => {
    throw new Misused(`--plan ${id}: ${cause.message}`, { cause });
  });
  console.log(faults.length === 0 ? `\n${id}: as it should be` : `\n${id}:\n  ${faults.join('\n  ')}`);
  return faults.length === 0 ? 0 : 1;
}

async function runMany(options: Options): Promise<number> {
  const begun = performance.now();
  const seconds = () => Math.round((performance.now() - begun) / 100) / 10;
  const { combined, seed } = options;
  const names = options.only?.split(',').map((name) => name.trim());
  const workloads = chosen(
    names?.filter((name) => name !== SEQUENCES),
    WORKLOADS,
    workloadOf,
  );
  const kinds = chosen(
    options.kinds?.split(',').map((name) => name.trim()),
    KINDS,
    kindOf,
  );
  const withSequences = options.kinds === undefined && (names === undefined || names.includes(SEQUENCES));
  const all = [
    ...(await plansOf({ workloads, kinds, combined, seed })),
    ...sequences(withSequences ? options.sequences : 0, seed),
  ];
  const ids = thinned(all, options.limit);
  const verdicts: Verdict[] = [];
  const diverging = () => verdicts.filter(({ faults }) => faults.length > 0);
  const progress = setInterval(() => {
    console.error(`${seconds()} s: ${verdicts.length} of ${ids.length}, ${diverging().length} diverge`);
  }, 10_000);
  try {
    await runAll(ids, options.threads, (verdict) => verdicts.push(verdict));
  } finally {
    clearInterval(progress);
  }
  // threads end in any order: the table has that of the plans
  const order = new Map(ids.map((id, index) => [id, index]));
  verdicts.sort((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0));
  if (options.json) {
    const summary = {
      plans: verdicts.length,
      divergences: diverging().length,
      byKind: tallyBy(verdicts, (_, kind) => kind),
      seconds: seconds(),
      seed,
      diverging: diverging(),
    };
    console.log(JSON.stringify(summary));
  } else {
    console.log(tableOf(verdicts));
    for (const { id, faults } of diverging().slice(0, 50)) console.log(`\n${id}\n  ${faults.join('\n  ')}`);
    console.log(
      `\n${verdicts.length} plans, ${diverging().length} divergences, ${seconds()} s; seeds from ${seed}`,
    );
  }
  return diverging().length === 0 ? 0 : 1;
}

try {
  const options = read(process.argv.slice(2));
  if (options === 'help') console.log(HELP);
  else process.exitCode = await (options.plan === undefined ? runMany(options) : runOne(options.plan));
} catch (error) {
  if (!(error instanceof Misused)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
