/**
 * One queue per Mysql: one pass at a time, hints that come meanwhile coalesce into one more pass, and different Mysqls run side by side
 * up to a bound. After a pass that says so it looks again by itself; a hint resets how often.
 */
import type { Pass } from '../pass.ts';
import { type MysqlRef, refKey } from '../resource/names.ts';

export interface QueueOptions {
  /** One pass; rejects only for what nobody expects. */
  readonly run: (ref: MysqlRef, trigger: string) => Promise<Pass>;
  /** Passes at once, over all Mysqls. */
  readonly concurrency: number;
  /** Milliseconds until the function looks again while something is under way. */
  readonly lookAgainAfter: number;
  /** How many looks in a row without a hint in between. */
  readonly mostLooks: number;
}

interface Line {
  readonly ref: MysqlRef;
  /** What the next pass answers to; empty when none is wanted. */
  waiting: { readonly trigger: string; readonly settle: PromiseWithResolvers<Pass> } | undefined;
  running: boolean;
  looks: number;
  timer: NodeJS.Timeout | undefined;
}

export class Queue {
  readonly #options: QueueOptions;
  readonly #lines = new Map<string, Line>();
  readonly #ready: Line[] = [];
  #running = 0;
  #closing = false;
  #idle = Promise.withResolvers<void>();

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Resolves with the first pass that begins after this call. Hints of one Mysql that wait share it. */
  hint(ref: MysqlRef, trigger: string): Promise<Pass> {
    const line = this.#line(ref);
    line.looks = 0;
    return this.#want(line, trigger);
  }

  /** Passes that run or wait. */
  get size(): number {
    return this.#running + this.#ready.length;
  }

  /** No more looks by itself; resolves when nothing runs and nothing waits. */
  async drain(): Promise<void> {
    this.#closing = true;
    for (const line of this.#lines.values()) clearTimeout(line.timer);
    this.#settleIdle();
    await this.#idle.promise;
  }

  #line(ref: MysqlRef): Line {
    const key = refKey(ref);
    const line = this.#lines.get(key) ?? {
      ref,
      waiting: undefined,
      running: false,
      looks: 0,
      timer: undefined,
    };
    this.#lines.set(key, line);
    return line;
  }

  #want(line: Line, trigger: string): Promise<Pass> {
    clearTimeout(line.timer);
    line.timer = undefined;
    if (!line.waiting) {
      line.waiting = { trigger, settle: Promise.withResolvers<Pass>() };
      if (!line.running) this.#ready.push(line);
    }
    const { promise } = line.waiting.settle;
    this.#pump();
    return promise;
  }

  #pump(): void {
    while (this.#running < this.#options.concurrency) {
      const line = this.#ready.shift();
      if (!line) return;
      void this.#run(line);
    }
  }

  async #run(line: Line): Promise<void> {
    const { waiting } = line;
    if (!waiting) return;
    line.waiting = undefined;
    line.running = true;
    this.#running += 1;
    let again = false;
    try {
      const pass = await this.#options.run(line.ref, waiting.trigger);
      again = pass.again || pass.failure?.name === 'Retryable';
      waiting.settle.resolve(pass);
    } catch (error) {
      waiting.settle.reject(error);
    }
    line.running = false;
    this.#running -= 1;
    if (line.waiting) this.#ready.push(line);
    else if (again && !this.#closing && line.looks < this.#options.mostLooks) this.#lookAgain(line);
    else this.#lines.delete(refKey(line.ref));
    this.#pump();
    this.#settleIdle();
  }

  #lookAgain(line: Line): void {
    line.looks += 1;
    line.timer = setTimeout(() => {
      // nobody waits for this pass: its failure is in the log
      this.#want(line, 'look again').catch(() => undefined);
    }, this.#options.lookAgainAfter);
    line.timer.unref();
  }

  #settleIdle(): void {
    if (this.#closing && this.size === 0) this.#idle.resolve();
  }
}
