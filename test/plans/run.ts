/** Runs a workload, perturbed or not, to its end: the steps, one resync, rest, and then the replay of all events. */

import { endState } from './mask.ts';
import { type Baseline, countsOf, faultsOf } from './oracles.ts';
import type { Rest } from './rest.ts';
import { type Workload, workloadOf } from './workloads.ts';
import { type Moment, type Perturbation, World } from './world.ts';

export interface Recorded extends Baseline {
  readonly moments: readonly Moment[];
  readonly events: number;
  /** Passes that did not just repeat the one before them. */
  readonly fresh: readonly number[];
}

export interface RunOptions {
  readonly perturbations?: readonly Perturbation[];
  readonly looks?: boolean;
  readonly trace?: ((line: string) => void) | undefined;
}

/** Milliseconds that a step is given, and the end after the resync. */
const STEP = 60_000;
const END = 600_000;

const rests = new Map<string, Promise<Rest>>();
const recorded = new Map<string, Promise<Recorded>>();

/** The undisturbed run, with or without looks. Its end is what every other run is compared with. */
export function baselineOf(workload: Workload, looks = true): Promise<Recorded> {
  const key = `${workload.name} ${looks}`;
  const known = recorded.get(key) ?? record(workload, looks);
  recorded.set(key, known);
  return known;
}

async function record(workload: Workload, looks: boolean): Promise<Recorded> {
  const world = await play(workload, { looks });
  const restless = await rested(world);
  const baseline = looks
    ? { end: endState(world), counts: countsOf(world) }
    : await baselineOf(workload, true);
  const faults = [...restless, ...faultsOf(world, workload, baseline), ...(await replayed(world))];
  if (faults.length > 0) throw new Error(`${workload.name}, undisturbed: ${faults.join('; ')}`);
  return {
    end: baseline.end,
    counts: baseline.counts,
    moments: world.moments,
    events: world.events.length,
    fresh: world.fresh,
  };
}

/** What is wrong with the perturbed run; nothing when nothing is. */
export async function judge(name: string, options: RunOptions): Promise<string[]> {
  const workload = workloadOf(name);
  const baseline = await baselineOf(workload);
  const world = await play(workload, options);
  const restless = await rested(world);
  const faults = faultsOf(world, workload, baseline);
  return [...restless, ...faults, ...(await replayed(world))];
}

async function play(workload: Workload, options: RunOptions): Promise<World> {
  const world = new World({ ...options, from: await restBefore(workload) });
  await world.workload(async () => {
    for (const { say, act, most = STEP } of workload.steps) {
      world.trace(`==    ${say}`);
      act(world);
      await world.run(most);
    }
  });
  return world;
}

/** One resync, and then it must come to rest by itself. */
async function rested(world: World): Promise<string[]> {
  world.trace('==    one resync');
  world.resync();
  return (await world.run(END)) ? [] : [`not at rest ${END / 1_000} s after the resync`];
}

async function replayed(world: World): Promise<string[]> {
  world.trace('==    all events once more');
  const before = world.writes;
  await world.replay();
  const writes = world.writes - before;
  return writes === 0 ? [] : [`${writes} writes when all events were replayed over the converged Mysql`];
}

function restBefore(workload: Workload): Promise<Rest> {
  const known = rests.get(workload.name) ?? converge(workload);
  rests.set(workload.name, known);
  return known;
}

async function converge(workload: Workload): Promise<Rest> {
  const world = new World();
  workload.before(world);
  if (!(await world.run(END)))
    throw new Error(`${workload.name}: what is there before does not come to rest`);
  return world.rest();
}
