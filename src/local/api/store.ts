/**
 * Objects, one counter of resource versions, and the history that watches resume from. Stored objects are frozen: every reader gets the
 * same one, every write makes a new one.
 */
import { type JsonObject, textAt } from './json.ts';
import type { Managers } from './managers.ts';
import { StatusError } from './status-error.ts';

export interface Stored {
  /** Key of the kind (kinds.ts, resourceKey). */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly object: JsonObject;
  readonly managers: Managers;
}

export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  readonly stored: Stored;
  /** What it was before; undefined for ADDED. */
  readonly before: JsonObject | undefined;
}

export interface Snapshot {
  readonly version: number;
  readonly objects: readonly Stored[];
}

export class Store {
  /** By kind, namespace and name: most reads are of one namespace. */
  readonly #objects = new Map<string, Map<string, Map<string, Stored>>>();
  /** Sorted collections of a kind in all namespaces, kept until it changes: pages are cut from them. */
  readonly #sorted = new Map<string, readonly Stored[]>();
  /** Owner uid → keys of what it owns. */
  readonly #owned = new Map<string, Set<Stored>>();
  readonly #uids = new Set<string>();
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #history: Change[] = [];
  readonly #historyLimit: number;
  #version = 1;
  #compacted = 0;

  constructor(historyLimit = 10_000) {
    this.#historyLimit = historyLimit;
  }

  get version(): number {
    return this.#version;
  }

  get(resource: string, namespace: string, name: string): Stored | undefined {
    return this.#objects.get(resource)?.get(namespace)?.get(name);
  }

  /** Sorted by namespace and name, as etcd returns them. */
  list(resource: string, namespace: string | undefined): readonly Stored[] {
    const kind = this.#objects.get(resource);
    if (namespace !== undefined) return sorted([...(kind?.get(namespace)?.values() ?? [])]);
    const known = this.#sorted.get(resource);
    if (known) return known;
    const all = sorted([...(kind?.values() ?? [])].flatMap((names) => [...names.values()]));
    this.#sorted.set(resource, all);
    return all;
  }

  ownedBy(uid: string): readonly Stored[] {
    return [...(this.#owned.get(uid) ?? [])];
  }

  hasUid(uid: string): boolean {
    return this.#uids.has(uid);
  }

  /** Everything, for collecting garbage and for snapshots. */
  *all(): Iterable<Stored> {
    for (const kind of this.#objects.values()) for (const names of kind.values()) yield* names.values();
  }

  /** Gives the object its resource version and keeps it. */
  put(next: Omit<Stored, 'object'> & { readonly object: JsonObject }): Stored {
    const before = this.get(next.resource, next.namespace, next.name);
    this.#version += 1;
    const metadata = { ...(next.object.metadata as JsonObject), resourceVersion: `${this.#version}` };
    const stored = { ...next, object: deepFreeze({ ...next.object, metadata }) };
    this.#index(before, stored);
    this.#tell({
      type: before ? 'MODIFIED' : 'ADDED',
      version: this.#version,
      stored,
      before: before?.object,
    });
    return stored;
  }

  /** The object goes away; its last state gets a resource version of its own, as in Kubernetes. */
  remove(before: Stored): void {
    this.#version += 1;
    const metadata = { ...(before.object.metadata as JsonObject), resourceVersion: `${this.#version}` };
    const stored = { ...before, object: deepFreeze({ ...before.object, metadata }) };
    this.#index(before, undefined);
    this.#tell({ type: 'DELETED', version: this.#version, stored, before: before.object });
  }

  /** Told of every change, within the call that made it. Returns how to stop. */
  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Changes after a version. Throws Expired when they are no longer known. */
  since(version: number): readonly Change[] {
    if (version < this.#compacted) {
      throw new StatusError('Expired', `too old resource version: ${version} (${this.#compacted})`);
    }
    return this.#history.filter((change) => change.version > version);
  }

  /** Forgets the history, as etcd's compaction does. */
  compact(): void {
    this.#history.length = 0;
    this.#compacted = this.#version;
  }

  snapshot(): Snapshot {
    return { version: this.#version, objects: [...this.all()] };
  }

  /** Into an empty store only. */
  restore({ version, objects }: Snapshot): void {
    for (const stored of objects) this.#index(undefined, stored);
    this.#version = version;
    this.#compacted = version;
  }

  #index(before: Stored | undefined, next: Stored | undefined): void {
    const { resource, namespace, name } = (next ?? before) as Stored;
    const kind = this.#objects.get(resource) ?? new Map<string, Map<string, Stored>>();
    this.#objects.set(resource, kind);
    const names = kind.get(namespace) ?? new Map<string, Stored>();
    kind.set(namespace, names);
    if (next) names.set(name, next);
    else names.delete(name);
    this.#sorted.delete(resource);
    for (const uid of before ? ownerUids(before.object) : []) this.#owned.get(uid)?.delete(before as Stored);
    for (const uid of next ? ownerUids(next.object) : []) {
      this.#owned.set(uid, (this.#owned.get(uid) ?? new Set()).add(next as Stored));
    }
    const uid = textAt((next ?? before)?.object, 'metadata', 'uid') ?? '';
    if (next) this.#uids.add(uid);
    else this.#uids.delete(uid);
  }

  #tell(change: Change): void {
    this.#history.push(change);
    if (this.#history.length > this.#historyLimit) {
      const gone = this.#history.splice(0, this.#history.length - this.#historyLimit);
      this.#compacted = gone.at(-1)?.version ?? this.#compacted;
    }
    for (const listener of this.#listeners) listener(change);
  }
}

const keyOf = ({ namespace, name }: Stored): string => `${namespace}/${name}`;
const sorted = (all: Stored[]): Stored[] => all.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));

export function ownerUids(object: JsonObject): readonly string[] {
  const metadata = object.metadata as JsonObject | undefined;
  const owners = metadata?.ownerReferences;
  return Array.isArray(owners) ? owners.map((owner) => textAt(owner, 'uid') ?? '') : [];
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const child of Object.values(value)) deepFreeze(child);
    Object.freeze(value);
  }
  return value;
}
