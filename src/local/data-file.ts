/** The embedded cluster's objects in a file, so that they survive a restart. Written whole, beside the old one, then renamed. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type Snapshot, Store, type Stored } from './api/store.ts';

/** Milliseconds: changes come in bursts. */
const DEBOUNCE = 200;

/** An empty store when there is no such file yet. Throws an Error that names the file when it cannot be read. */
export function restoreFrom(file: string): Store {
  const store = new Store();
  if (!existsSync(file)) return store;
  try {
    store.restore(
      JSON.parse(readFileSync(file, 'utf8'), (_key, value) =>
        isSet(value) ? new Set(value.$set) : value,
      ) as Snapshot,
    );
  } catch (cause) {
    throw new Error(
      `${file} holds no embedded cluster: ${(cause as Error).message}. Remove it, or name another file.`,
      { cause },
    );
  }
  return store;
}

/** Writes after every burst of changes. Returns how to stop, which writes a last time. */
export function keepIn(file: string, store: Store): () => void {
  let timer: NodeJS.Timeout | undefined;
  const write = () => {
    timer = undefined;
    const text = JSON.stringify(store.snapshot(), (_key, value: unknown) =>
      value instanceof Set ? { $set: [...value] } : value,
    );
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  const stop = store.onChange(() => {
    timer ??= setTimeout(write, DEBOUNCE);
  });
  return () => {
    stop();
    clearTimeout(timer);
    write();
  };
}

const isSet = (value: unknown): value is { readonly $set: readonly unknown[] } =>
  typeof value === 'object' && value !== null && '$set' in value && Array.isArray(value.$set);

export type { Stored };
