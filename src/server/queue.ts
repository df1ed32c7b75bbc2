/**
 * One line per Mysql: one pass at a time, hints that come meanwhile coalesce into one more pass, and different Mysqls run side by side
 * up to a bound. After a pass that asks for it the line looks again by itself; a hint begins the count anew.
 */
import type { Pass } from '../pass.ts';
import { type MysqlRef, refKey } from '../resource/names.ts';
import { type Looks, NO_LOOKS, nextLook, type Patience } from './patience.ts';
import { type Later, later as onTheClock } from './timer.ts';

export interface QueueOptions extends Patience {
  /** One pass; rejects only for what nobody expects. */
  readonly run: (ref: MysqlRef, trigger: string) => Promise<Pass>;
  /** Passes at once, over all Mysqls. */
  readonly concurrency: number;
  readonly later?: Later;
}

interface Line {
  readonly ref: MysqlRef;
  /** The pass that is wanted but has not begun, with the first hint that wanted it. */
  waiting: { readonly trigger: string; readonly end: PromiseWithResolvers<Pass> } | undefined;
  running: boolean;
  looks: Looks;
  /** Calls off the look that is planned. */
  callOff: (() => void) | undefined;
}

export class Queue {
  readonly #options: QueueOptions;
  readonly #later: Later;
  readonly #lines = new Map<string, Line>();
  /** Lines whose next pass waits for a free place, first come, first served. */
  readonly #ready: Line[] = [];
  #running = 0;
  #closing = false;
  readonly #idle = Promise.withResolvers<void>();

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#later = options.later ?? onTheClock;
  }

  /** Resolves with the first pass that begins after this call. Hints of one Mysql that wait share it. */
  hint(ref: MysqlRef, trigger: string): Promise<Pass> {
    const line = this.#line(ref);
    line.looks = NO_LOOKS;
    return this.#want(line, trigger);
  }

  /** Passes that run or wait for a place. */
  get size(): number {
    return this.#running + this.#ready.length;
  }

  /** No more looks by itself; resolves when nothing runs and nothing waits. */
  async drain(): Promise<void> {
    this.#closing = true;
    for (const line of this.#lines.values()) line.callOff?.();
    this.#settleIdle();
    await this.#idle.promise;
  }

  #line(ref: MysqlRef): Line {
    const key = refKey(ref);
    const known = this.#lines.get(key);
    if (known) return known;
    const line = { ref, waiting: undefined, running: false, looks: NO_LOOKS, callOff: undefined };
    this.#lines.set(key, line);
    return line;
  }

  #want(line: Line, trigger: string): Promise<Pass> {
    line.callOff?.();
    line.callOff = undefined;
    if (!line.waiting) {
      line.waiting = { trigger, end: Promise.withResolvers<Pass>() };
      if (!line.running) this.#ready.push(line);
    }
    const { promise } = line.waiting.end;
    this.#fillPlaces();
    return promise;
  }

  #fillPlaces(): void {
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
    let pass: Pass | undefined;
    try {
      pass = await this.#options.run(line.ref, waiting.trigger);
      waiting.end.resolve(pass);
    } catch (error) {
      waiting.end.reject(error);
    }
    line.running = false;
    this.#running -= 1;
    if (line.waiting) this.#ready.push(line);
    else this.#lookAgain(line, pass);
    this.#fillPlaces();
    this.#settleIdle();
  }

  #lookAgain(line: Line, pass: Pass | undefined): void {
    const next = pass && !this.#closing ? nextLook(pass, line.looks, this.#options) : undefined;
    if (!next) {
      this.#lines.delete(refKey(line.ref));
      return;
    }
    line.looks = next;
    line.callOff = this.#later(next.after, () => {
      // nobody waits for this pass: its failure is in the log
      this.#want(line, 'look again').catch(() => undefined);
    });
  }

  #settleIdle(): void {
    if (this.#closing && this.size === 0) this.#idle.resolve();
  }
}
