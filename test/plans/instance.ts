/** One process of the function: the real HTTP app, queue and passes, on time that the harness moves. It can be killed at any moment. */
import type { DesiredSettings } from '../../src/desired/index.ts';
import type { Cluster } from '../../src/kubernetes/cluster.ts';
import { exchange } from '../../src/local/in-process.ts';
import { createLog } from '../../src/log.ts';
import type { Members } from '../../src/mysql/members.ts';
import type { Pass } from '../../src/pass.ts';
import { reconcile } from '../../src/reconcile.ts';
import { type MysqlRef, refKey } from '../../src/resource/names.ts';
import { createApp } from '../../src/server/app.ts';
import { logged } from '../../src/server/pass-log.ts';
import { Queue } from '../../src/server/queue.ts';
import { type Around, type Call, type Go, interceptCluster, interceptMembers } from './calls.ts';
import type { VirtualTime } from './time.ts';

export interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** One pass, as the harness sees it. */
export interface Watched {
  /** What stands around its calls. */
  readonly around: Around;
  readonly end: (pass: Pass) => void;
}

export interface InstanceOptions {
  readonly time: VirtualTime;
  readonly cluster: Cluster;
  readonly members: Members;
  readonly settings: DesiredSettings;
  /** False: it never looks again by itself, as if its pod went away after every answer. */
  readonly looks: boolean;
  readonly begin: (ref: MysqlRef) => Watched;
  /** Told of what breaks a promise about latency. */
  readonly onLate: (what: string) => void;
}

/** Milliseconds, as the function has them when nothing else is configured (src/config.ts). */
export const REPLY_BUDGET = 2_000;
const LOOK_AGAIN = 500;
const MOST_LOOKS = 240;
const CONCURRENCY = 16;
/** In real time, so it never comes: the plans have their own deadlines. */
const PASS_DEADLINE = 3_600_000;

const log = createLog('silent');
/** What a process that was killed is about to do never happens. */
const never = <T>(): Promise<T> => new Promise(() => undefined);

export class Instance {
  readonly #options: InstanceOptions;
  readonly #app: ReturnType<typeof createApp>;
  readonly #killed = Promise.withResolvers<number>();
  readonly #planned = new Set<() => void>();
  #alive = true;

  constructor(options: InstanceOptions) {
    this.#options = options;
    const { time } = options;
    const later = (delay: number, run: () => void): (() => void) => {
      const callOff = time.after(delay, () => {
        this.#planned.delete(callOff);
        run();
      });
      this.#planned.add(callOff);
      return () => {
        this.#planned.delete(callOff);
        callOff();
      };
    };
    const queue = new PunctualQueue(options, {
      concurrency: CONCURRENCY,
      lookAgainAfter: LOOK_AGAIN,
      mostLooks: options.looks ? MOST_LOOKS : 0,
      later,
      run: logged((ref, signal) => this.#pass(ref, signal), log, PASS_DEADLINE),
    });
    this.#app = createApp({ queue, log, replyBudget: REPLY_BUDGET, later });
  }

  /** The status of the answer; 0 when the process ends before it answers. */
  async post({ headers, body }: Sent): Promise<number> {
    if (!this.#alive) return 0;
    const lowered = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const answer = exchange(this.#app, { method: 'POST', url: '/', headers: lowered, body });
    return Promise.race([answer.then(({ status }) => status), this.#killed.promise]);
  }

  kill(): void {
    this.#alive = false;
    for (const callOff of this.#planned) callOff();
    this.#killed.resolve(0);
  }

  async #pass(ref: MysqlRef, signal: AbortSignal): Promise<Pass> {
    const { time, cluster, members, settings, begin } = this.#options;
    const { around, end } = begin(ref);
    const whileAlive: Around = async <T>(call: Call, go: Go<T>) => {
      if (!this.#alive) return never<T>();
      const done = await around(call, (instead) => (this.#alive ? go(instead) : never<T>()));
      return this.#alive ? done : never<T>();
    };
    const ports = {
      cluster: interceptCluster(cluster, whileAlive),
      members: interceptMembers(members, whileAlive),
      clock: () => new Date(time.now),
      settings,
    };
    const pass = await reconcile(ref, ports, signal);
    end(pass);
    return pass;
  }
}

/** Tells when a hint had to wait although no pass over its own Mysql was under way: then another one held it up. */
class PunctualQueue extends Queue {
  readonly #time: VirtualTime;
  readonly #hinted: Map<string, number>;
  readonly #running: Set<string>;

  constructor({ time, onLate }: InstanceOptions, options: ConstructorParameters<typeof Queue>[0]) {
    const hinted = new Map<string, number>();
    const running = new Set<string>();
    super({
      ...options,
      run: async (ref, trigger) => {
        const key = refKey(ref);
        const waited = time.now - (hinted.get(key) ?? time.now);
        hinted.delete(key);
        if (waited > 0)
          onLate(`${key} waited ${waited} ms for its pass although none of its own was running`);
        running.add(key);
        return options.run(ref, trigger).finally(() => running.delete(key));
      },
    });
    this.#time = time;
    this.#hinted = hinted;
    this.#running = running;
  }

  override async hint(ref: MysqlRef, trigger: string): Promise<Pass> {
    const key = refKey(ref);
    const begun = this.#time.now;
    if (!this.#running.has(key)) this.#hinted.set(key, this.#hinted.get(key) ?? begun);
    return super.hint(ref, trigger);
  }
}
