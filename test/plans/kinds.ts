/**
 * The kinds of plans: for each, at which points of a workload it can strike, and what it then does. A point is written as it stands in the
 * plan's id: `write=7`, `pass=3,back=2`, `seed=42`.
 */
import {
  adapterDown,
  crashAt,
  duplicated,
  FAULTS,
  type Fault,
  failingAt,
  interleaved,
  interruptedAt,
  LATE_FAULTS,
  lost,
  overtaken,
  replayedAt,
  stalePass,
  staleRead,
  TROUBLES,
  type Trouble,
  troubledAt,
} from './perturbations.ts';
import { Random } from './random.ts';
import type { Recorded } from './run.ts';
import type { Perturbation } from './world.ts';

export interface PlanKind {
  readonly name: string;
  /** For the help and the docs. */
  readonly about: string;
  /** False: the function never looks again by itself during the workload, as if its pod went away after every answer. */
  readonly looks?: false;
  /** All points of this workload. */
  readonly points: (baseline: Recorded) => readonly string[];
  readonly at: (point: Point, baseline: Recorded) => readonly Perturbation[];
}

/** What stands in a plan's id after the kind. */
export class Point {
  readonly text: string;
  readonly #values: ReadonlyMap<string, string>;

  constructor(text: string) {
    this.text = text;
    this.#values = new Map(text.split(',').map((part) => part.split('=', 2) as [string, string]));
  }

  number(name: string): number {
    const value = Number(this.#values.get(name));
    if (!Number.isInteger(value))
      throw new Error(`the plan's point must have ${name}=<number>: ${this.text}`);
    return value;
  }

  oneOf<T extends string>(name: string, choices: readonly T[]): T {
    const found = choices.find((choice) => choice === this.#values.get(name));
    if (!found) throw new Error(`${name} must be one of ${choices.join(', ')}: ${this.text}`);
    return found;
  }
}

const upTo = (count: number): number[] => [...Array(count).keys()];
const seeds = (count: number): string[] => upTo(count).map((seed) => `seed=${seed}`);
const writesOf = ({ moments }: Recorded): number => moments.filter(({ call }) => call.write).length;
/** Changes of the API server by which a read may lag behind. */
const LAGS = [1, 2, 4, 8, 16];
/** By as much as a read of its own, where only one is out of date. */
const LAG_OF_ONE = 6;
/** Random subsets and schedules of each workload. */
const SEEDS = 20;
const MEMBERS = 3;
/** How many things go wrong at once in a plan of kind `combined`. */
const MOST_COMBINED = 4;

const KINDS_ALONE: readonly PlanKind[] = [
  {
    name: 'crash-before',
    about: 'the function dies before a write',
    points: (baseline) => upTo(writesOf(baseline)).map((write) => `write=${write}`),
    at: (point) => [crashAt(point.number('write'), 'before')],
  },
  {
    name: 'crash-after',
    about: 'the function dies after a write and before its reply',
    points: (baseline) => upTo(writesOf(baseline)).map((write) => `write=${write}`),
    at: (point) => [crashAt(point.number('write'), 'after')],
  },
  {
    name: 'lost',
    about: 'one event is lost, or a random half of them',
    points: ({ events }) => [...upTo(events).map((event) => `event=${event}`), ...seeds(SEEDS)],
    at: losing,
  },
  {
    name: 'lost-asleep',
    about: 'the same, and the function never looks again by itself',
    looks: false,
    points: ({ events }) => [...upTo(events).map((event) => `event=${event}`), ...seeds(SEEDS)],
    at: losing,
  },
  {
    name: 'duplicated',
    about: 'one event comes twice at once',
    points: ({ events }) => upTo(events).map((event) => `event=${event}`),
    at: (point) => [duplicated(point.number('event'))],
  },
  {
    name: 'reordered',
    about: 'one event comes after the next one',
    points: ({ events }) => upTo(events).map((event) => `event=${event}`),
    at: (point) => [overtaken(point.number('event'))],
  },
  {
    name: 'replayed',
    about: 'all earlier events come once more, the oldest last',
    points: ({ events }) => upTo(events).map((event) => `event=${event}`),
    at: (point) => [replayedAt(point.number('event'))],
  },
  {
    name: 'stale-pass',
    about: 'all reads of one pass are out of date',
    points: ({ fresh }) => fresh.flatMap((pass) => LAGS.map((back) => `pass=${pass},back=${back}`)),
    at: (point) => [stalePass(point.number('pass'), point.number('back'))],
  },
  {
    name: 'stale-read',
    about: 'one read is out of date, the others are not',
    points: (baseline) =>
      freshCalls(baseline)
        .filter(({ call }) => call.port === 'cluster' && !call.write)
        .map(({ number }) => `call=${number},back=${LAG_OF_ONE}`),
    at: (point) => [staleRead(point.number('call'), point.number('back'))],
  },
  {
    name: 'interrupted',
    about: 'another process makes a whole pass just before one call',
    points: (baseline) => freshCalls(baseline).map(({ number }) => `call=${number}`),
    at: (point) => [interruptedAt(point.number('call'))],
  },
  {
    name: 'interleaved',
    about: 'two processes get every event, and chance says whose call goes on',
    points: () => seeds(SEEDS),
    at: (point) => [interleaved(new Random(point.text))],
  },
  {
    name: 'fault',
    about: `one call fails: ${[...FAULTS, ...LATE_FAULTS].join(', ')}`,
    points: (baseline) =>
      freshCalls(baseline).flatMap(({ number, call }) =>
        faultsFor(number, call.write).map((fault) => `call=${number},with=${fault}`),
      ),
    at: (point) => [failingAt(point.number('call'), point.oneOf('with', [...FAULTS, ...LATE_FAULTS]))],
  },
  {
    name: 'member',
    about: `one member ${TROUBLES.join(', ')} for a while, from a pass on`,
    points: ({ fresh }) =>
      fresh.flatMap((pass) =>
        TROUBLES.map(
          (trouble, index) => `pass=${pass},member=${(pass + index) % MEMBERS},trouble=${trouble}`,
        ),
      ),
    at: (point) => [
      troubledAt(point.number('pass'), point.number('member'), point.oneOf<Trouble>('trouble', TROUBLES)),
    ],
  },
  {
    name: 'adapter-down',
    about: 'the adapter is down for the whole workload, with or without the probes',
    points: () => ['probes=heard', 'probes=lost'],
    at: (point) => [adapterDown(point.oneOf('probes', ['heard', 'lost']) === 'lost')],
  },
];

export const COMBINED: PlanKind = {
  name: 'combined',
  about: 'two to four of all these at once, as a seed says',
  points: () => [],
  at: (point, baseline) => {
    const random = new Random(point.text);
    return upTo(2 + random.below(MOST_COMBINED - 1)).flatMap(() => {
      const kind = random.pick(KINDS_ALONE.filter(({ looks }) => looks !== false));
      const points = kind.points(baseline);
      return points.length > 0 ? kind.at(new Point(random.pick(points)), baseline) : [];
    });
  },
};

export const KINDS: readonly PlanKind[] = [...KINDS_ALONE, COMBINED];

function losing(point: Point): readonly Perturbation[] {
  if (point.text.startsWith('event=')) {
    const event = point.number('event');
    return [lost((number) => number === event)];
  }
  const random = new Random(point.text);
  return [lost(() => random.chance(0.5))];
}

/** All calls but those of passes that read the same as the one before them and did nothing: there the same would follow. */
const freshCalls = ({ moments, fresh }: Recorded) => {
  const passes = new Set(fresh);
  return moments.filter(({ pass }) => passes.has(pass));
};

/** A write fails in every way; a read that fails has done nothing, however it failed, so its way goes round. */
const faultsFor = (number: number, write: boolean): readonly Fault[] =>
  write ? [...FAULTS, ...LATE_FAULTS] : [FAULTS[number % FAULTS.length] ?? 'reset'];
