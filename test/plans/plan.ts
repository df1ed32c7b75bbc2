/** A plan is a workload and what goes wrong in it; its id says all of it: `create/crash-after/write=7`. */
import { COMBINED, KINDS, type PlanKind, Point } from './kinds.ts';
import { baselineOf, judge } from './run.ts';
import { incremental, sequenceOf } from './sequences.ts';
import { WORKLOADS, type Workload, workloadOf } from './workloads.ts';

export interface Chosen {
  readonly workloads: readonly Workload[];
  readonly kinds: readonly PlanKind[];
  /** Combined plans for each workload, beginning with this seed. */
  readonly combined: number;
  readonly seed: number;
}

export interface Verdict {
  readonly id: string;
  /** What is wrong; empty when nothing is. */
  readonly faults: readonly string[];
}

/** The first two parts of the ids of plans that are sequences of specs: workload and kind in one. */
const SEQUENCE = 'sequence/incremental';
/** How `--only` calls them. */
export const SEQUENCES = 'sequence';

/** The ids of the plans of so many sequences of specs. */
export const sequences = (count: number, seed: number): string[] =>
  Array.from({ length: count }, (_, index) => `${SEQUENCE}/seed=${seed + index}`);

export function kindOf(name: string): PlanKind {
  const found = KINDS.find((kind) => kind.name === name);
  if (!found) throw new Error(`there is no kind ${name}: ${KINDS.map((one) => one.name).join(', ')}`);
  return found;
}

/** The ids of all plans, workload by workload. */
export async function plansOf({ workloads, kinds, combined, seed }: Chosen): Promise<string[]> {
  const ids: string[] = [];
  for (const workload of workloads) {
    for (const kind of kinds) {
      const points =
        kind === COMBINED
          ? Array.from({ length: combined }, (_, index) => `seed=${seed + index}`)
          : kind.points(await baselineOf(workload, kind.looks));
      ids.push(...points.map((point) => `${workload.name}/${kind.name}/${point}`));
    }
  }
  return ids;
}

/** Runs one plan. Throws for an id that is none. */
export async function run(id: string, trace?: (line: string) => void): Promise<Verdict> {
  const [name = '', kindName = '', text = ''] = id.split('/');
  const point = new Point(text);
  if (`${name}/${kindName}` === SEQUENCE) {
    const sequence = sequenceOf(point.number('seed'));
    return judged(id, () => incremental(sequence, trace));
  }
  const kind = kindOf(kindName);
  const looks = kind.looks ?? true;
  const baseline = await baselineOf(workloadOf(name), looks);
  const perturbations = kind.at(point, baseline);
  return judged(id, () => judge(name, { perturbations, looks, trace }));
}

async function judged(id: string, judge: () => Promise<string[]>): Promise<Verdict> {
  try {
    return { id, faults: await judge() };
  } catch (error) {
    return { id, faults: [`the harness gave up: ${error instanceof Error ? error.stack : String(error)}`] };
  }
}

/** Every n-th of them, so that about `limit` are left and all kinds and workloads are among them. */
export const thinned = (ids: readonly string[], limit: number): string[] =>
  ids.length <= limit
    ? [...ids]
    : Array.from({ length: limit }, (_, index) => ids[Math.floor((index * ids.length) / limit)] ?? '');

export const allWorkloads: readonly Workload[] = WORKLOADS;
