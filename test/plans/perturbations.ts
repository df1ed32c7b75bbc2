/** What can go wrong, one thing each: at a call, with an event, with a process, with a member. */
import { Retryable } from '../../src/errors.ts';
import { toFailure } from '../../src/kubernetes/request.ts';
import type { Server } from '../../src/local/group/server.ts';
import type { MysqlRef } from '../../src/resource/names.ts';
import type { Go } from './calls.ts';
import type { Random } from './random.ts';
import type { Moment, Perturbation, World } from './world.ts';

const never = <T>(): Promise<T> => new Promise(() => undefined);

// --- the process -------------------------------------------------------------------------------------------------------------------

/** Dies at a write: before it is sent, or after it was done and before the reply came. */
export const crashAt = (write: number, when: 'before' | 'after'): Perturbation => ({
  call: async (moment, go, world) => {
    if (moment.write !== write) return go();
    if (when === 'after') await go();
    world.crash();
    return never();
  },
});

/** Another process makes a whole pass over the same Mysql just before this call. */
export const interruptedAt = (call: number): Perturbation => ({
  call: async ({ number, ref }, go, world) => {
    if (number === call) await world.passOfTwin(ref);
    return go();
  },
});

/** Two processes get every event, and chance says whose call goes on. */
export const interleaved = (random: Random): Perturbation => ({
  twins: true,
  schedule: (waiting) => random.below(waiting),
});

// --- calls -------------------------------------------------------------------------------------------------------------------------

export const FAULTS = ['409', '429', '500', '503', 'timeout', 'reset'] as const;
/** Of writes only: it was done, but that is not known. */
export const LATE_FAULTS = ['timeout-after', 'reset-after'] as const;
export type Fault = (typeof FAULTS)[number] | (typeof LATE_FAULTS)[number];

/** Milliseconds: longer than what was observed may be acted upon, shorter than a pass may last. */
const TIMEOUT = 6_000;

export const failingAt = (call: number, fault: Fault): Perturbation => ({
  call: async (moment, go, world) => {
    if (moment.number !== call) return go();
    if (fault.endsWith('-after')) await go();
    if (fault.startsWith('timeout')) await world.time.sleep(TIMEOUT);
    throw failureOf(fault);
  },
});

function failureOf(fault: Fault): Error {
  switch (fault) {
    case '409':
    case '429':
    case '500':
    case '503':
      return toFailure('plan', Number(fault), JSON.stringify({ message: 'as the plan says' }));
    case 'timeout':
    case 'timeout-after':
      return new Retryable('deadline exceeded, as the plan says');
    case 'reset':
    case 'reset-after':
      return new Retryable('socket hang up, as the plan says');
    default:
      return fault satisfies never;
  }
}

/** A read comes from a while ago, counted in changes of the API server. */
const fromThePast = <T>({ call }: Moment, go: Go<T>, { past }: World, back: number): Promise<T> =>
  call.port === 'cluster' && !call.write ? go(past.before(back)) : go();

export const staleRead = (call: number, back: number): Perturbation => ({
  call: (moment, go, world) => (moment.number === call ? fromThePast(moment, go, world, back) : go()),
});

export const stalePass = (pass: number, back: number): Perturbation => ({
  call: (moment, go, world) => (moment.pass === pass ? fromThePast(moment, go, world, back) : go()),
});

// --- events ------------------------------------------------------------------------------------------------------------------------

export const lost = (isLost: (event: number) => boolean): Perturbation => ({
  event: async (number, deliver) => (isLost(number) ? 204 : deliver()),
});

export const duplicated = (event: number): Perturbation => ({
  event: async (number, deliver) => {
    if (number !== event) return deliver();
    const [first] = await Promise.all([deliver(), deliver()]);
    return first;
  },
});

/** Milliseconds after which an event that was to be overtaken comes by itself. */
const OVERTAKEN = 3_000;

/** The event comes after the next one. */
export function overtaken(event: number): Perturbation {
  let held: (() => Promise<number>) | undefined;
  const release = async () => {
    const deliver = held;
    held = undefined;
    await deliver?.();
  };
  return {
    event: async (number, deliver, world) => {
      if (number === event) {
        held = deliver;
        world.time.after(OVERTAKEN, () => void release());
        return 204;
      }
      const status = await deliver();
      await release();
      return status;
    },
  };
}

/** After the event all earlier ones come once more, the oldest last. */
export const replayedAt = (event: number): Perturbation => ({
  event: async (number, deliver, world) => {
    const status = await deliver();
    if (number === event) for (const old of world.events.slice(0, event).reverse()) void world.deliver(old);
    return status;
  },
});

/** Which events the adapter sends, as against the probes. */
export const adapterDown = (probesToo: boolean): Perturbation => ({
  event: async (number, deliver, world) =>
    probesToo || world.events[number]?.headers['Ce-Kind'] ? 204 : deliver(),
});

// --- members -----------------------------------------------------------------------------------------------------------------------

export const TROUBLES = ['hangs', 'is-slow', 'is-paused', 'is-killed', 'is-cut-off'] as const;
export type Trouble = (typeof TROUBLES)[number];

/** Milliseconds: long enough to be expelled, and shorter than a step of a workload. */
const TROUBLED = 9_000;
/** What a member takes to answer that is just too slow. */
const SLOW = 1_000;

/** From the beginning of a pass on, for a while. */
export function troubledAt(pass: number, ordinal: number, trouble: Trouble): Perturbation {
  let slowUntil = 0;
  return {
    pass: (number, ref, world) => {
      if (number !== pass) return;
      const server = memberOf(ref, ordinal, world);
      if (!server) return;
      world.trace(`!!    ${server.pod} ${trouble}`);
      if (trouble === 'is-slow') slowUntil = world.time.now + TROUBLED;
      else begin(server, trouble, world);
    },
    call: async ({ call }, go, world) => {
      if (call.port === 'members' && world.time.now < slowUntil) await world.time.sleep(SLOW);
      return go();
    },
  };
}

const memberOf = (ref: MysqlRef, ordinal: number, world: World): Server | undefined => {
  const servers = world.cluster.model.clusterOf(ref.namespace, ref.name);
  return servers.find(({ pod }) => pod === `${ref.name}-${ordinal}`);
};

function begin(server: Server, trouble: Exclude<Trouble, 'is-slow'>, world: World): void {
  const { model } = world.cluster;
  const later = (end: () => void) => void world.time.after(TROUBLED, end);
  switch (trouble) {
    case 'hangs':
      model.hang(server);
      return later(() => model.hang(server, false));
    case 'is-paused':
      model.pause(server);
      return later(() => model.resume(server));
    case 'is-killed':
      return model.kill(server);
    case 'is-cut-off':
      model.cut(server);
      return later(() => model.heal(server));
    default:
      return trouble satisfies never;
  }
}
