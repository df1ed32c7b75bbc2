/**
 * The embedded Kubernetes API without its HTTP: verbs over the store. Controllers of the embedded cluster and tests use it in process,
 * server.ts serves it. Objects that come out are frozen; every refusal is a StatusError.
 */
import { randomUUID } from 'node:crypto';
import { admit, checkType } from './admission.ts';
import { applyIntent } from './apply.ts';
import { fromCoreEvent, toCoreEvent } from './event-forms.ts';
import { fieldsOf } from './fields.ts';
import { at, copy, isObject, type Json, type JsonObject, same, textAt } from './json.ts';
import { apiVersionOf, BUILT_IN, customKinds, type Kind, resourceKey } from './kinds.ts';
import { shapeOf } from './list-types.ts';
import {
  fromManagedFields,
  isSame,
  type Manager,
  type Managers,
  sameFields,
  toManagedFields,
  withManager,
} from './managers.ts';
import { jsonMergePatch, jsonPatch, strategicMergePatch } from './patch.ts';
import { prune } from './schema.ts';
import { conflict, notFound, StatusError } from './status-error.ts';
import { type Change, ownerUids, Store, type Stored } from './store.ts';

export interface ApiOptions {
  readonly clock?: () => Date;
  readonly uid?: () => string;
  readonly store?: Store;
}

export interface WriteOptions {
  readonly manager?: string;
  readonly dryRun?: boolean;
  readonly subresource?: 'status';
  /** Told of the fields that the schema does not know and that were dropped. */
  readonly onDropped?: (fields: readonly string[]) => void;
}

export type PatchType = 'apply' | 'json' | 'merge' | 'strategic';

export interface DeleteOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

export class Api {
  readonly store: Store;
  readonly #clock: () => Date;
  #kinds: { readonly of: unknown; readonly all: readonly Kind[] } = { of: undefined, all: BUILT_IN };
  readonly #uid: () => string;
  /** Pods of a node end gracefully: somebody stops them and deletes with grace 0. Without a node nobody would. */
  nodePresent = false;

  constructor({ clock = () => new Date(), uid = randomUUID, store = new Store() }: ApiOptions = {}) {
    this.#clock = clock;
    this.#uid = uid;
    this.store = store;
  }

  /** All kinds that are served now. */
  kinds(): readonly Kind[] {
    const crds = this.store.list('customresourcedefinitions.apiextensions.k8s.io', undefined);
    // the same collection until a CRD changes
    if (crds !== this.#kinds.of) {
      this.#kinds = { of: crds, all: [...BUILT_IN, ...crds.flatMap(({ object }) => customKinds(object))] };
    }
    return this.#kinds.all;
  }

  /** Throws NotFound for what is not served. */
  kind(group: string, version: string, plural: string): Kind {
    const found = this.kinds().find(
      (one) => one.group === group && one.version === version && one.plural === plural,
    );
    if (!found) throw new StatusError('NotFound', 'the server could not find the requested resource');
    return found;
  }

  /** By apiVersion and kind, as objects name themselves. */
  kindOf(apiVersion: string, name: string): Kind {
    const found = this.kinds().find((one) => apiVersionOf(one) === apiVersion && one.kind === name);
    if (!found) throw new StatusError('NotFound', `no matches for kind "${name}" in version "${apiVersion}"`);
    return found;
  }

  /** Throws NotFound. */
  get(kind: Kind, namespace: string, name: string): JsonObject {
    return outward(kind, this.#stored(kind, namespace, name).object);
  }

  find(kind: Kind, namespace: string, name: string): JsonObject | undefined {
    const stored = this.store.get(storageKey(kind), kind.namespaced ? namespace : '', name);
    return stored && outward(kind, stored.object);
  }

  list(kind: Kind, namespace?: string): readonly JsonObject[] {
    return this.store
      .list(storageKey(kind), kind.namespaced ? namespace : undefined)
      .map(({ object }) => outward(kind, object));
  }

  create(kind: Kind, namespace: string, body: JsonObject, options: WriteOptions = {}): JsonObject {
    checkType(kind, body);
    const object = copy(body);
    const metadata = metadataOf(object);
    const name = textAt(metadata, 'name') ?? generatedName(metadata, this.#uid);
    if (this.store.get(storageKey(kind), kind.namespaced ? namespace : '', name)) {
      throw new StatusError(
        'AlreadyExists',
        `${kind.plural}${kind.group ? `.${kind.group}` : ''} "${name}" already exists`,
        { name, group: kind.group, kind: kind.plural },
      );
    }
    if (metadata.resourceVersion)
      throw new StatusError('BadRequest', 'resourceVersion should not be set on objects to be created');
    this.#checkNamespace(kind, namespace);
    if (kind.status) delete object.status;
    object.metadata = { ...metadata, name, ...(kind.namespaced ? { namespace } : {}) };
    const manager = this.#manager(kind, options, 'Update', new Set());
    return this.#write(kind, undefined, object, options, (final) =>
      withManager([], { ...manager, fields: new Set(fieldsOf(final, shapeOf(kind)).keys()) }),
    );
  }

  /** Replaces the object, or with subresource its status only. A resourceVersion in the body is a precondition. */
  update(
    kind: Kind,
    namespace: string,
    name: string,
    body: JsonObject,
    options: WriteOptions = {},
  ): JsonObject {
    checkType(kind, body);
    const stored = this.#stored(kind, namespace, name);
    this.#checkPreconditions(kind, stored, metadataOf(body));
    return this.#replace(kind, stored, body, options);
  }

  patch(
    kind: Kind,
    namespace: string,
    name: string,
    type: PatchType,
    body: Json,
    options: WriteOptions & { readonly force?: boolean } = {},
  ): JsonObject {
    if (type === 'apply') return this.#apply(kind, namespace, name, body, options);
    const stored = this.#stored(kind, namespace, name);
    const live = this.#withManagedFields(kind, stored, type, body);
    const patched =
      type === 'json'
        ? jsonPatch(live, body)
        : type === 'merge' || kind.schema
          ? jsonMergePatch(live, body)
          : strategicMergePatch(live, body, shapeOf(kind));
    if (!isObject(patched)) throw new StatusError('BadRequest', 'a patch must leave an object');
    if (isObject(body)) this.#checkPreconditions(kind, stored, metadataOf(body), 'patch');
    return this.#replace(kind, stored, patched, options);
  }

  /** Undefined when the object was there and is gone; the object while it is still on its way out. */
  delete(kind: Kind, namespace: string, name: string, options: DeleteOptions = {}): JsonObject | undefined {
    const stored = this.#stored(kind, namespace, name);
    this.#checkDeletePreconditions(kind, stored, options);
    if (options.dryRun) return stored.object;
    if (options.propagation === 'Orphan')
      this.#orphanDependents(textAt(stored.object, 'metadata', 'uid') ?? '');
    const finalizers = at(stored.object, 'metadata', 'finalizers');
    const held = Array.isArray(finalizers) && finalizers.length > 0;
    const grace = kind.kind === 'Pod' ? (options.gracePeriodSeconds ?? graceOf(stored.object)) : 0;
    // a pod that no node has taken has nothing to end
    const running = this.nodePresent && at(stored.object, 'status', 'podIP') !== undefined && grace > 0;
    const foreground =
      options.propagation === 'Foreground' &&
      this.store.ownedBy(textAt(stored.object, 'metadata', 'uid') ?? '').length > 0;
    if (kind.kind === 'Namespace') this.#emptyNamespace(name);
    if (foreground) this.#deleteDependents(stored);
    const current = this.store.get(stored.resource, stored.namespace, stored.name);
    if (!current) return undefined;
    const leaving = at(current.object, 'metadata', 'deletionTimestamp') !== undefined;
    const marked = leaving ? current : this.#mark(current, running ? grace : 0, held || kind.kind === 'Pod');
    if (held || running) return marked.object;
    this.#remove(marked);
    return undefined;
  }

  /** The deletion is written on the object first where somebody has to let go of it, and on pods always: watchers see it leave, then gone. */
  #mark(stored: Stored, grace: number, needed: boolean): Stored {
    if (!needed) return stored;
    const metadata = {
      ...metadataOf(stored.object),
      deletionTimestamp: this.#now(),
      deletionGracePeriodSeconds: grace,
    };
    return this.store.put({ ...stored, object: { ...stored.object, metadata } });
  }

  /** Deletes what the garbage collector would: objects whose owners are all gone. */
  collectGarbage(): number {
    const orphans = [...this.store.all()].filter(({ object }) => {
      const owners = ownerUids(object);
      return owners.length > 0 && owners.every((uid) => !this.store.hasUid(uid));
    });
    for (const orphan of orphans) this.#deleteQuietly(orphan);
    return orphans.length;
  }

  onChange(listener: (change: Change) => void): () => void {
    return this.store.onChange(listener);
  }

  managersOf(kind: Kind, namespace: string, name: string): Managers {
    return this.#stored(kind, namespace, name).managers;
  }

  // --- writing -------------------------------------------------------------------------------------------------------------------

  #apply(
    kind: Kind,
    namespace: string,
    name: string,
    body: Json,
    options: WriteOptions & { readonly force?: boolean },
  ): JsonObject {
    if (!isObject(body)) throw new StatusError('BadRequest', 'an apply configuration must be an object');
    if (!options.manager) {
      const why = 'fieldManager: Required value: is required for apply patch';
      throw new StatusError('Invalid', `PatchOptions.meta.k8s.io "" is invalid: ${why}`);
    }
    checkType(kind, body);
    const stored = this.store.get(storageKey(kind), kind.namespaced ? namespace : '', name);
    if (!stored) return this.#applyNew(kind, namespace, name, body, options);
    this.#checkPreconditions(kind, stored, metadataOf(body), 'patch');
    const manager = this.#manager(kind, options, 'Apply', new Set());
    const intent = this.#part(kind, body, options.subresource);
    this.#refuseUnknown(kind, intent);
    const merged = applyIntent(stored.object, intent, stored.managers, manager, {
      force: options.force ?? false,
      shape: shapeOf(kind),
    });
    return this.#write(kind, stored, merged.object, options, () =>
      withManager(stored.managers, { ...manager, fields: merged.owned }, merged.taken),
    );
  }

  #applyNew(
    kind: Kind,
    namespace: string,
    name: string,
    body: JsonObject,
    options: WriteOptions,
  ): JsonObject {
    if (options.subresource) throw notFound(kind.plural, kind.group, name);
    const { uid, resourceVersion, ...metadata } = metadataOf(body);
    if (uid)
      throw conflict(
        kind.plural,
        kind.group,
        name,
        `uid mismatch: the provided object specified uid ${String(uid)}, and no existing object was found`,
      );
    if (resourceVersion)
      throw conflict(
        kind.plural,
        kind.group,
        name,
        'the object has been modified; please apply your changes to the latest version and try again',
      );
    this.#checkNamespace(kind, namespace);
    const object = this.#part(kind, copy(body), undefined);
    this.#refuseUnknown(kind, object);
    object.metadata = { ...metadata, name, ...(kind.namespaced ? { namespace } : {}) };
    const manager = this.#manager(kind, options, 'Apply', new Set(fieldsOf(object, shapeOf(kind)).keys()));
    return this.#write(kind, undefined, object, options, () => [manager]);
  }

  /** measured: an apply that names an unknown field is a 500, not a 422. */
  #refuseUnknown(kind: Kind, intent: JsonObject): void {
    const [unknown] = kind.schema ? prune(kind.schema, copy(intent)) : [];
    if (!unknown) return;
    const { namespace, name } = metadataOf(intent);
    throw new StatusError(
      'InternalError',
      `failed to create typed patch object (${String(namespace ?? '')}/${String(name ?? '')}; ${apiVersionOf(kind)}, Kind=${kind.kind}): .${unknown}: field not declared in schema`,
    );
  }

  /** Only a JSON Patch reaches into managedFields, so only for one that does they are put in. */
  #withManagedFields(kind: Kind, stored: Stored, type: PatchType, body: Json): JsonObject {
    const live = copy(outward(kind, stored.object));
    const reaches = type === 'json' && JSON.stringify(body).includes('"/metadata/managedFields');
    return reaches
      ? { ...live, metadata: { ...metadataOf(live), managedFields: toManagedFields(stored.managers) } }
      : live;
  }

  /** An update or a patch: what changed belongs to the manager from now on. */
  #replace(kind: Kind, stored: Stored, body: JsonObject, options: WriteOptions): JsonObject {
    const part = this.#part(kind, copy(body), options.subresource);
    const kept = options.subresource
      ? { ...stored.object, ...part }
      : { ...part, ...(kind.status ? pick(stored.object, 'status') : {}) };
    const metadata = { ...(options.subresource ? metadataOf(stored.object) : metadataOf(body)) };
    for (const field of [
      'uid',
      'creationTimestamp',
      'deletionTimestamp',
      'deletionGracePeriodSeconds',
      'generation',
      'namespace',
      'name',
      'resourceVersion',
    ]) {
      const value = at(stored.object, 'metadata', field);
      if (value === undefined) delete metadata[field];
      else metadata[field] = value;
    }
    delete metadata.managedFields;
    const rewritten = metadataOf(body).managedFields;
    const known = rewritten ? { ...stored, managers: fromManagedFields(rewritten) } : stored;
    const object = { ...copy(kept), metadata };
    return this.#write(kind, stored, object, options, (final) =>
      this.#updatedManagers(kind, known, final, options),
    );
  }

  #updatedManagers(kind: Kind, stored: Stored, final: JsonObject, options: WriteOptions): Managers {
    const shape = shapeOf(kind);
    const before = fieldsOf(stored.object, shape);
    const after = fieldsOf(final, shape);
    const changed = [...after]
      .filter(([path, value]) => !before.has(path) || !same(value, before.get(path)))
      .map(([path]) => path);
    const gone = [...before.keys()].filter((path) => !after.has(path));
    const draft = this.#manager(kind, options, 'Update', new Set(changed));
    const own = stored.managers.find((one) => isSame(one, draft))?.fields ?? new Set<string>();
    const fields = own.union(draft.fields).difference(new Set(gone));
    return changed.length + gone.length === 0
      ? stored.managers
      : withManager(stored.managers, { ...draft, fields }, [...changed, ...gone]);
  }

  /** The one place that stores: admission, generation, and nothing at all when nothing changed. */
  #write(
    kind: Kind,
    before: Stored | undefined,
    object: JsonObject,
    options: WriteOptions,
    managersFor: (final: JsonObject) => Managers,
  ): JsonObject {
    object.apiVersion = apiVersionOf(kind);
    object.kind = kind.kind;
    const dropped = admit(kind, object, before?.object);
    if (dropped.length > 0) options.onDropped?.(dropped);
    const metadata = metadataOf(object);
    const generation = Number(at(before?.object, 'metadata', 'generation') ?? 0);
    const final: JsonObject = {
      ...object,
      metadata: {
        ...metadata,
        uid: textAt(before?.object, 'metadata', 'uid') ?? this.#uid(),
        creationTimestamp: textAt(before?.object, 'metadata', 'creationTimestamp') ?? this.#now(),
        ...(hasGeneration(kind)
          ? {
              generation: before && same(specOf(before.object), specOf(object)) ? generation : generation + 1,
            }
          : {}),
      },
    };
    const managers = managersFor(final);
    if (
      before &&
      same(withoutVersion(before.object), withoutVersion(storedForm(kind, final))) &&
      sameManagers(before.managers, managers)
    ) {
      return outward(kind, before.object);
    }
    if (options.dryRun) return final;
    // a deletion that only waited for its finalizers; measured: watchers see it go, not the last one being taken away
    const finalizers = at(final, 'metadata', 'finalizers');
    const released = !Array.isArray(finalizers) || finalizers.length === 0;
    if (
      before &&
      at(final, 'metadata', 'deletionTimestamp') &&
      released &&
      !(kind.kind === 'Pod' && this.nodePresent)
    ) {
      this.#remove(before);
      return final;
    }
    const stored = this.store.put({
      resource: storageKey(kind),
      namespace: kind.namespaced ? (textAt(final, 'metadata', 'namespace') ?? '') : '',
      name: textAt(final, 'metadata', 'name') ?? '',
      object: storedForm(kind, final),
      managers,
    });
    return outward(kind, stored.object);
  }

  #manager(
    kind: Kind,
    options: WriteOptions,
    operation: Manager['operation'],
    fields: Manager['fields'],
  ): Manager {
    return {
      name: options.manager ?? 'unknown',
      operation,
      subresource: options.subresource ?? '',
      apiVersion: apiVersionOf(kind),
      time: this.#now(),
      fields,
    };
  }

  /** Only the status, or everything but the status. */
  #part(kind: Kind, object: JsonObject, subresource: 'status' | undefined): JsonObject {
    if (!kind.status) return object;
    if (subresource)
      return { ...pick(object, 'apiVersion'), ...pick(object, 'kind'), ...pick(object, 'status') };
    const { status, ...rest } = object;
    return rest;
  }

  // --- checks ------------------------------------------------------------------------------------------------------------------

  #stored(kind: Kind, namespace: string, name: string): Stored {
    const stored = this.store.get(storageKey(kind), kind.namespaced ? namespace : '', name);
    if (!stored) throw notFound(kind.plural, kind.group, name);
    return stored;
  }

  #checkNamespace(kind: Kind, namespace: string): void {
    if (!kind.namespaced) return;
    const found = this.store.get('namespaces.', '', namespace);
    if (!found) throw notFound('namespaces', '', namespace);
    if (at(found.object, 'metadata', 'deletionTimestamp')) {
      throw new StatusError(
        'Forbidden',
        `unable to create new content in namespace ${namespace} because it is being terminated`,
      );
    }
  }

  #checkPreconditions(kind: Kind, stored: Stored, metadata: JsonObject, verb?: 'patch'): void {
    const { uid, resourceVersion } = metadataOf(stored.object);
    const name = stored.name;
    if (metadata.uid && metadata.uid !== uid) {
      if (verb === 'patch') {
        throw new StatusError(
          'Invalid',
          `${kind.kind}${kind.group ? `.${kind.group}` : ''} "${name}" is invalid: metadata.uid: Invalid value: "${String(metadata.uid)}": field is immutable`,
          { name, group: kind.group, kind: kind.kind },
        );
      }
      throw conflict(
        kind.plural,
        kind.group,
        name,
        `Precondition failed: UID in precondition: ${String(metadata.uid)}, UID in object meta: ${String(uid)}`,
      );
    }
    if (metadata.resourceVersion && metadata.resourceVersion !== resourceVersion) {
      throw conflict(
        kind.plural,
        kind.group,
        name,
        'the object has been modified; please apply your changes to the latest version and try again',
      );
    }
  }

  #checkDeletePreconditions(kind: Kind, stored: Stored, options: DeleteOptions): void {
    const { uid, resourceVersion } = metadataOf(stored.object);
    const failed = (what: string, wanted: string, found: Json | undefined) =>
      conflict(
        kind.plural,
        kind.group,
        stored.name,
        `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${String(found)}`,
      );
    if (options.uid && options.uid !== uid) throw failed('UID', options.uid, uid);
    if (options.resourceVersion && options.resourceVersion !== resourceVersion)
      throw failed('ResourceVersion', options.resourceVersion, resourceVersion);
  }

  // --- deleting ------------------------------------------------------------------------------------------------------------------

  #remove(stored: Stored): void {
    this.store.remove(stored);
    this.#deleteDependents(stored);
    const crd =
      stored.resource === 'customresourcedefinitions.apiextensions.k8s.io' ? customKinds(stored.object) : [];
    for (const kind of crd)
      for (const one of this.store.list(resourceKey(kind), undefined)) this.#deleteQuietly(one);
  }

  #deleteDependents(owner: Stored): void {
    const uid = textAt(owner.object, 'metadata', 'uid') ?? '';
    for (const dependent of this.store.ownedBy(uid)) {
      const others = ownerUids(dependent.object).filter((one) => one !== uid && this.store.hasUid(one));
      if (others.length === 0) this.#deleteQuietly(dependent);
    }
  }

  #orphanDependents(uid: string): void {
    for (const dependent of this.store.ownedBy(uid)) {
      const { ownerReferences, ...metadata } = metadataOf(dependent.object);
      const others = (Array.isArray(ownerReferences) ? ownerReferences : []).filter(
        (owner) => textAt(owner, 'uid') !== uid,
      );
      const kept = others.length > 0 ? { ...metadata, ownerReferences: others } : metadata;
      this.store.put({ ...dependent, object: { ...dependent.object, metadata: kept } });
    }
  }

  /** Secrets first, as the namespace controller may: whoever still works in it must bear that. */
  #emptyNamespace(namespace: string): void {
    const inside = [...this.store.all()].filter((stored) => stored.namespace === namespace);
    const order = (stored: Stored) => (stored.resource === 'secrets.' ? 0 : 1);
    for (const stored of inside.sort((a, b) => order(a) - order(b))) this.#deleteQuietly(stored);
  }

  #deleteQuietly(stored: Stored): void {
    const kind = this.kinds().find((one) => storageKey(one) === stored.resource);
    if (kind && this.store.get(stored.resource, stored.namespace, stored.name))
      this.delete(kind, stored.namespace, stored.name);
  }

  #now(): string {
    return this.#clock()
      .toISOString()
      .replace(/\.\d+Z$/, 'Z');
  }
}

export const metadataOf = (object: JsonObject): JsonObject => {
  const metadata = object.metadata;
  return isObject(metadata) ? metadata : {};
};

const storageKey = (kind: Kind): string => (kind.kind === 'Event' ? 'events.' : resourceKey(kind));

const isNewEvent = (kind: Kind): boolean => kind.kind === 'Event' && kind.group === 'events.k8s.io';
const storedForm = (kind: Kind, object: JsonObject): JsonObject =>
  isNewEvent(kind) ? toCoreEvent(object) : object;
const outward = (kind: Kind, object: JsonObject): JsonObject =>
  isNewEvent(kind) ? fromCoreEvent(object) : object;

function pick(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return value === undefined ? {} : { [key]: value };
}

const hasGeneration = (kind: Kind): boolean => kind.schema !== undefined || kind.status;

/** What a generation counts changes of. */
const specOf = ({ metadata, status, ...rest }: JsonObject): JsonObject => rest;

const withoutVersion = (object: JsonObject): JsonObject => {
  const { resourceVersion, ...metadata } = metadataOf(object);
  return { ...object, metadata };
};

const sameManagers = (a: Managers, b: Managers): boolean =>
  a.length === b.length &&
  a.every((one) => b.some((other) => isSame(one, other) && sameFields(one.fields, other.fields)));

const graceOf = (pod: JsonObject): number => Number(at(pod, 'spec', 'terminationGracePeriodSeconds') ?? 30);

function generatedName(metadata: JsonObject, uid: () => string): string {
  const prefix = textAt(metadata, 'generateName');
  if (!prefix)
    throw new StatusError(
      'Invalid',
      'resource name may not be empty: metadata.name: Required value: name or generateName is required',
    );
  return `${prefix}${uid().replaceAll('-', '').slice(0, 8)}`;
}
