/** Time that the harness moves: what is due happens in order, and never by itself. */

interface Due {
  readonly at: number;
  readonly run: () => void;
}

export class VirtualTime {
  #now: number;
  /** Sorted by time; what is due at one moment stays in the order in which it was asked for. */
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

  /** Returns how to call it off. */
  after(delay: number, run: () => void): () => void {
    const due = { at: this.#now + delay, run };
    this.#due.splice(this.#due.findLastIndex((one) => one.at <= due.at) + 1, 0, due);
    return () => {
      const index = this.#due.indexOf(due);
      if (index >= 0) this.#due.splice(index, 1);
    };
  }

  sleep(delay: number): Promise<void> {
    return new Promise((resolve) => void this.after(delay, resolve));
  }

  /** Makes it `now`, and everything happen that is due by then. */
  advance(now: number): void {
    for (let due = this.#due[0]; due && due.at <= now; due = this.#due[0]) {
      this.#due.shift();
      this.#now = Math.max(this.#now, due.at);
      due.run();
    }
    this.#now = Math.max(this.#now, now);
  }
}
