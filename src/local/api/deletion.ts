/** How objects go: marked first where somebody has to let go of them, then away, with what they owned. */
import type { Api } from './api.ts';
import { at, type JsonObject, metadataOf, textAt } from './json.ts';
import { customKinds, type Kind, resourceKey } from './kinds.ts';
import { ownerUids, type Stored } from './store.ts';

export interface DeleteOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

export class Deletion {
  readonly #api: Api;
  readonly #now: () => string;

  constructor(api: Api, now: () => string) {
    this.#api = api;
    this.#now = now;
  }

  /** Undefined when the object is gone; the object while it is still on its way out. */
  delete(kind: Kind, stored: Stored, options: DeleteOptions): JsonObject | undefined {
    const { store } = this.#api;
    const uid = uidOf(stored);
    if (options.propagation === 'Orphan') this.#orphanDependents(uid);
    const held = hasFinalizers(stored.object);
    const grace = kind.kind === 'Pod' ? (options.gracePeriodSeconds ?? graceOf(stored.object)) : 0;
    // a pod that no node has taken has nothing to end
    const running = this.#api.nodePresent && at(stored.object, 'status', 'podIP') !== undefined && grace > 0;
    if (kind.kind === 'Namespace') return this.#deleteNamespace(stored);
    if (options.propagation === 'Foreground') this.#deleteDependents(stored);
    const current = store.get(stored.resource, stored.namespace, stored.name);
    if (!current) return undefined;
    const marked = isLeaving(current.object)
      ? current
      : this.#mark(current, running ? grace : 0, held || kind.kind === 'Pod');
    if (held || running) return marked.object;
    this.remove(marked);
    return undefined;
  }

  /** At once, whatever holds it. */
  remove(stored: Stored): void {
    const { store } = this.#api;
    store.remove(stored);
    this.#deleteDependents(stored);
    const kinds = stored.resource.startsWith('customresourcedefinitions.') ? customKinds(stored.object) : [];
    for (const kind of kinds) for (const one of store.list(resourceKey(kind), undefined)) this.remove(one);
    const namespace = store.get('namespaces.', '', stored.namespace);
    if (namespace && isLeaving(namespace.object)) this.#removeEmptyNamespace(namespace);
  }

  /** Deletes the objects whose owners are all gone; returns how many there were. */
  collectGarbage(): number {
    const { store } = this.#api;
    const orphans = [...store.all()].filter(({ object }) => {
      const owners = ownerUids(object);
      return owners.length > 0 && owners.every((uid) => !store.hasUid(uid));
    });
    for (const orphan of orphans) this.#deleteIfThere(orphan);
    return orphans.length;
  }

  /** The deletion is written on the object first where somebody has to let go of it, and on pods always: watchers see it leave, then gone. */
  #mark(stored: Stored, grace: number, needed: boolean): Stored {
    if (!needed) return stored;
    const metadata = {
      ...metadataOf(stored.object),
      deletionTimestamp: this.#now(),
      deletionGracePeriodSeconds: grace,
    };
    return this.#api.store.put({ ...stored, object: { ...stored.object, metadata } });
  }

  #deleteDependents(owner: Stored): void {
    const { store } = this.#api;
    const uid = uidOf(owner);
    for (const dependent of store.ownedBy(uid)) {
      const others = ownerUids(dependent.object).filter((one) => one !== uid && store.hasUid(one));
      if (others.length === 0) this.#deleteIfThere(dependent);
    }
  }

  #orphanDependents(uid: string): void {
    const { store } = this.#api;
    for (const dependent of store.ownedBy(uid)) {
      const { ownerReferences, ...metadata } = metadataOf(dependent.object);
      const others = (Array.isArray(ownerReferences) ? ownerReferences : []).filter(
        (owner) => textAt(owner, 'uid') !== uid,
      );
      const kept = others.length > 0 ? { ...metadata, ownerReferences: others } : metadata;
      store.put({ ...dependent, object: { ...dependent.object, metadata: kept } });
    }
  }

  /** Takes nothing new from now on and goes with the last of its content. */
  #deleteNamespace(stored: Stored): JsonObject | undefined {
    if (isLeaving(stored.object)) return stored.object;
    const object = { ...stored.object, status: { phase: 'Terminating' } };
    const marked = this.#mark({ ...stored, object }, 0, true);
    // Secrets first, as the namespace controller may: whoever still works in it must bear that
    const order = ({ resource }: Stored) => (resource === 'secrets.' ? 0 : 1);
    const inside = this.#inside(stored.name).sort((a, b) => order(a) - order(b));
    for (const one of inside) this.#deleteIfThere(one);
    this.#removeEmptyNamespace(marked);
    return this.#api.store.get(marked.resource, '', marked.name)?.object;
  }

  #removeEmptyNamespace(namespace: Stored): void {
    const { store } = this.#api;
    const there = store.get(namespace.resource, '', namespace.name);
    if (there && this.#inside(there.name).length === 0) store.remove(there);
  }

  #inside(namespace: string): Stored[] {
    return [...this.#api.store.all()].filter((stored) => stored.namespace === namespace);
  }

  /** It may have gone along with another one. */
  #deleteIfThere({ resource, namespace, name }: Stored): void {
    const kind = this.#api.kinds().find((one) => resourceKey(one) === resource);
    const stored = this.#api.store.get(resource, namespace, name);
    if (kind && stored) this.delete(kind, stored, {});
  }
}

export const isLeaving = (object: JsonObject): boolean =>
  at(object, 'metadata', 'deletionTimestamp') !== undefined;

/** Somebody asked to be waited for. */
export function hasFinalizers(object: JsonObject): boolean {
  const finalizers = at(object, 'metadata', 'finalizers');
  return Array.isArray(finalizers) && finalizers.length > 0;
}

const uidOf = ({ object }: Stored): string => textAt(object, 'metadata', 'uid') ?? '';

/** Kubernetes' default of terminationGracePeriodSeconds. */
const graceOf = (pod: JsonObject): number => Number(at(pod, 'spec', 'terminationGracePeriodSeconds') ?? 30);
