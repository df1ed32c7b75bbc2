/** Time that others move: what is due happens in order when `advance` is called, and never by itself. */
import type { Server } from './server.ts';

interface Due {
  readonly at: number;
  readonly run: () => void;
}

export class Timeline {
  #now: number;
  /** Sorted by time; what is due at the same moment stays in the order in which it was asked for. */
  readonly #due: Due[] = [];

  /** Milliseconds since the epoch. */
  constructor(now: number) {
    this.#now = now;
  }

  get now(): number {
    return this.#now;
  }

  /** When something is due next; undefined when nothing is. */
  get next(): number | undefined {
    return this.#due[0]?.at;
  }

  after(delay: number, run: () => void): void {
    const at = this.#now + delay;
    this.#due.splice(this.#due.findLastIndex((due) => due.at <= at) + 1, 0, { at, run });
  }

  /** Void when the server's process or its part in the group has ended by then; a paused one does it when it goes on. */
  whileItLives(server: Server, delay: number, run: () => void): void {
    const { life } = server;
    this.after(delay, () => {
      if (server.life !== life) return;
      if (server.process === 'paused') this.whileItLives(server, delay, run);
      else run();
    });
  }

  /** Makes everything happen that is due up to `now`, at its own time each, what it brings about included. */
  advance(now: number): void {
    for (let due = this.#due[0]; due && due.at <= now; due = this.#due[0]) {
      this.#due.shift();
      this.#now = Math.max(this.#now, due.at);
      due.run();
    }
    this.#now = Math.max(this.#now, now);
  }
}
