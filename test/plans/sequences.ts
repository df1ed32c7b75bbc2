/**
 * Any way to a spec leads to the same end: a random sequence of specs, each applied before or after the one before has come to rest,
 * against the last of them applied from scratch; and going back to the first gives what that alone would give.
 */
import fc from 'fast-check';
import type { JsonObject } from '../../src/local/api/json.ts';
import { differences, type EndState, endState } from './mask.ts';
import { DB } from './workloads.ts';
import { World } from './world.ts';

export interface Stage {
  readonly spec: JsonObject;
  /** Milliseconds until the next spec comes; sooner when nothing more happens. */
  readonly most: number;
}

/** Milliseconds. */
const END = 600_000;

const AWAKE = [1, 2, 3, 5];

const specOf = (sizes: readonly number[]): fc.Arbitrary<JsonObject> =>
  fc
    .record(
      {
        size: fc.constantFrom(...sizes),
        image: fc.constantFrom('mysql:8.4', 'mysql:8.4.6'),
        config: fc.constantFrom({ max_connections: '500' }, { max_connections: '600' }),
        primary: fc.constantFrom(0, 1, 2),
        podTemplate: fc.constantFrom({ labels: { team: 'red' } }, { priorityClassName: 'important' }),
      },
      { requiredKeys: ['size', 'image'] },
    )
    .filter(({ size, primary = 0 }) => size === 0 || primary < size);

const stage = (sizes: readonly number[]): fc.Arbitrary<Stage> =>
  fc.record({ spec: specOf(sizes), most: fc.constantFrom(0, 700, 3_000, 9_000, 60_000) });

/** At least two. The first and the last have members: one that hibernates tells whether it has data, which is a past. */
const stages: fc.Arbitrary<Stage[]> = fc
  .tuple(stage(AWAKE), fc.array(stage([0, ...AWAKE]), { maxLength: 2 }), stage(AWAKE))
  .map(([first, between, last]) => [first, ...between, last]);

export const sequenceOf = (seed: number): readonly Stage[] =>
  fc.sample(stages, { seed, numRuns: 1 })[0] ?? [];

/** What is wrong; nothing when nothing is. */
export async function incremental(
  sequence: readonly Stage[],
  trace?: (line: string) => void,
): Promise<string[]> {
  const [first] = sequence;
  const last = sequence.at(-1);
  if (!first || !last) return [];
  const world = new World({ trace });
  for (const { spec, most } of sequence) {
    world.trace(`==    ${JSON.stringify(spec)}`);
    world.apply(DB, spec);
    await world.run(most);
  }
  const there = await compared(world, last.spec, 'in the end');
  world.trace('==    back to the first');
  world.apply(DB, first.spec);
  const back = await compared(world, first.spec, 'gone back to the first');
  return [...there, ...back, ...world.violations, ...world.cluster.model.violations];
}

async function compared(world: World, spec: JsonObject, when: string): Promise<string[]> {
  world.resync();
  const rested = await world.run(END);
  return [
    ...(rested ? [] : ['not at rest']),
    ...differences(await fromScratch(spec), withoutSpare(endState(world), spec)),
  ].map((fault) => `${when}: ${fault}`);
}

const scratch = new Map<string, Promise<EndState>>();

function fromScratch(spec: JsonObject): Promise<EndState> {
  const key = JSON.stringify(spec);
  const known = scratch.get(key) ?? converge(spec);
  scratch.set(key, known);
  return known;
}

async function converge(spec: JsonObject): Promise<EndState> {
  const world = new World();
  world.apply(DB, spec);
  if (!(await world.run(END))) throw new Error(`${JSON.stringify(spec)} does not come to rest from scratch`);
  return endState(world);
}

/** Volumes of members that were there once are kept: they are data. */
const withoutSpare = (state: EndState, { size }: JsonObject): EndState =>
  Object.fromEntries(
    Object.entries(state).filter(([key]) => {
      const ordinal = /^PersistentVolumeClaim .*-(\d+)$/.exec(key)?.[1];
      return ordinal === undefined || Number(ordinal) < Number(size);
    }),
  );
