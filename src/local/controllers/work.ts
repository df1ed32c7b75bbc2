/** Level-triggered work: keys that need a look, looked at until none is left. The caller decides when, so tests decide it too. */
export class Work {
  readonly #dirty = new Set<string>();
  readonly #look: (key: string) => void;

  constructor(look: (key: string) => void) {
    this.#look = look;
  }

  add(key: string): void {
    this.#dirty.add(key);
  }

  /** Looks at every key that waits, and at those that come up meanwhile; true when there was anything to do. Bounded against loops. */
  drain(): boolean {
    let looks = 0;
    for (const key of this.#dirty) {
      this.#dirty.delete(key);
      this.#look(key);
      looks += 1;
      if (looks > 100_000) throw new Error(`a controller does not settle: it still works on ${key}`);
    }
    return looks > 0;
  }
}
