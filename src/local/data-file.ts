/** The embedded cluster in a file, so that it survives a restart: its objects and its servers' data. Written whole, then renamed. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type Snapshot, Store } from './api/store.ts';
import type { EmbeddedCluster } from './cluster.ts';
import type { SavedVolume } from './group/server.ts';

interface Saved {
  readonly objects: Snapshot;
  readonly volumes: Record<string, SavedVolume>;
}

export interface Restored {
  readonly store: Store;
  readonly volumes: Record<string, SavedVolume>;
}

/** Milliseconds: changes come in bursts. */
const DEBOUNCE = 200;

/** Empty when there is no such file yet. Throws an Error that names the file when it cannot be read. */
export function restoreFrom(file: string): Restored {
  const store = new Store();
  if (!existsSync(file)) return { store, volumes: {} };
  try {
    const { objects, volumes } = JSON.parse(readFileSync(file, 'utf8'), (_key, value) =>
      isSet(value) ? new Set(value.$set) : value,
    ) as Saved;
    store.restore(objects);
    return { store, volumes };
  } catch (cause) {
    throw new Error(
      `${file} holds no embedded cluster: ${(cause as Error).message}. Remove it, or name another file.`,
      { cause },
    );
  }
}

/** Writes after every burst of changes. Returns how to stop, which writes a last time. */
export function keepIn(file: string, { api, model }: EmbeddedCluster): () => void {
  let timer: NodeJS.Timeout | undefined;
  const write = () => {
    timer = undefined;
    const saved: Saved = { objects: api.store.snapshot(), volumes: model.volumes };
    const text = JSON.stringify(saved, (_key, value: unknown) =>
      value instanceof Set ? { $set: [...value] } : value,
    );
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  const stop = api.onChange(() => {
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
