/**
 * The embedded Kubernetes API without its HTTP: verbs over the store. Controllers of the embedded cluster and tests use it in process,
 * server.ts serves it. Objects that come out are frozen; every refusal is a StatusError.
 */
import { randomUUID } from 'node:crypto';
import { admit, checkType, refuseUnknown } from './admission.ts';
import { applyIntent } from './apply.ts';
import { type DeleteOptions, Deletion, hasFinalizers, isLeaving } from './deletion.ts';
import { presented, stored as storedForm } from './event-forms.ts';
import { fieldsOf } from './fields.ts';
import { at, copy, isObject, type Json, type JsonObject, metadataOf, same, textAt } from './json.ts';
import { apiVersionOf, BUILT_IN, customKinds, type Kind, resourceKey } from './kinds.ts';
import { shapeOf } from './list-types.ts';
import {
  afterUpdate,
  fromManagedFields,
  type Manager,
  type Managers,
  sameManagers,
  toManagedFields,
  withManager,
} from './managers.ts';
import { jsonMergePatch, jsonPatch, strategicMergePatch } from './patch.ts';
import { checkAbsent, checkAddress, checkDelete, checkPatch, checkUpdate } from './preconditions.ts';
import { alreadyExists, notFound, StatusError } from './status-error.ts';
import { type Change, Store, type Stored } from './store.ts';

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

export interface PatchOptions extends WriteOptions {
  /** Server-side apply only: take fields from their managers. */
  readonly force?: boolean;
}

export type PatchType = 'apply' | 'json' | 'merge' | 'strategic';

export class Api {
  readonly store: Store;
  readonly #clock: () => Date;
  readonly #uid: () => string;
  readonly #deletion: Deletion;
  #kinds: { readonly of: unknown; readonly all: readonly Kind[] } = { of: undefined, all: BUILT_IN };
  /** Pods of a node end gracefully: somebody stops them and deletes with grace 0. Without a node nobody would. */
  nodePresent = false;

  constructor({ clock = () => new Date(), uid = randomUUID, store = new Store() }: ApiOptions = {}) {
    this.#clock = clock;
    this.#uid = uid;
    this.store = store;
    this.#deletion = new Deletion(this, () => this.#now());
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
    return presented(kind, this.#stored(kind, namespace, name).object);
  }

  find(kind: Kind, namespace: string, name: string): JsonObject | undefined {
    const stored = this.#find(kind, namespace, name);
    return stored && presented(kind, stored.object);
  }

  list(kind: Kind, namespace?: string): readonly JsonObject[] {
    return this.store
      .list(resourceKey(kind), kind.namespaced ? namespace : undefined)
      .map(({ object }) => presented(kind, object));
  }

  create(kind: Kind, namespace: string, body: JsonObject, options: WriteOptions = {}): JsonObject {
    checkType(kind, body);
    checkAddress(kind, namespace, undefined, body);
    const object = copy(body);
    const metadata = metadataOf(object);
    if (metadata.resourceVersion)
      throw new StatusError('Unknown', 'resourceVersion should not be set on objects to be created');
    const name = textAt(metadata, 'name') || generatedName(kind, metadata, this.#uid);
    if (this.#find(kind, namespace, name)) throw alreadyExists(kind.plural, kind.group, name);
    this.#checkNamespace(kind, namespace);
    if (kind.status) delete object.status;
    object.metadata = { ...metadata, name, ...(kind.namespaced ? { namespace } : {}) };
    const manager = this.#manager(kind, options, 'Update');
    return this.#write(kind, undefined, object, options, (final) => {
      const fields = fieldsOf(partOf(kind, final, undefined), shapeOf(kind));
      return withManager([], { ...manager, fields: new Set(fields.keys()) });
    });
  }

  /**
   * Replaces the object, or with subresource its status only. A resourceVersion in the body is a precondition, and custom resources must
   * have one.
   */
  update(
    kind: Kind,
    namespace: string,
    name: string,
    body: JsonObject,
    options: WriteOptions = {},
  ): JsonObject {
    checkType(kind, body);
    checkAddress(kind, namespace, name, body);
    const stored = this.#stored(kind, namespace, name);
    checkUpdate(kind, stored, body);
    return this.#replace(kind, stored, body, options);
  }

  patch(
    kind: Kind,
    namespace: string,
    name: string,
    type: PatchType,
    body: Json,
    options: PatchOptions = {},
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
    checkAddress(kind, namespace, name, patched);
    if (isObject(body)) checkPatch(kind, stored, body);
    return this.#replace(kind, stored, patched, options);
  }

  /** Undefined when the object was there and is gone; the object while it is still on its way out. */
  delete(kind: Kind, namespace: string, name: string, options: DeleteOptions = {}): JsonObject | undefined {
    const stored = this.#stored(kind, namespace, name);
    checkDelete(kind, stored, options);
    return options.dryRun ? undefined : this.#deletion.delete(kind, stored, options);
  }

  /** Deletes what the garbage collector would: objects whose owners are all gone. */
  collectGarbage(): number {
    return this.#deletion.collectGarbage();
  }

  onChange(listener: (change: Change) => void): () => void {
    return this.store.onChange(listener);
  }

  managersOf(kind: Kind, namespace: string, name: string): Managers {
    return this.#find(kind, namespace, name)?.managers ?? [];
  }

  // --- writing -------------------------------------------------------------------------------------------------------------------

  #apply(kind: Kind, namespace: string, name: string, body: Json, options: PatchOptions): JsonObject {
    if (!isObject(body)) throw new StatusError('BadRequest', 'an apply configuration must be an object');
    if (!options.manager) {
      const why = 'fieldManager: Required value: is required for apply patch';
      throw new StatusError('Invalid', `PatchOptions.meta.k8s.io "" is invalid: ${why}`);
    }
    checkType(kind, body);
    checkAddress(kind, namespace, name, body);
    if (metadataOf(body).managedFields)
      throw new StatusError('BadRequest', 'metadata.managedFields must be nil');
    const intent = partOf(kind, body, options.subresource);
    refuseUnknown(kind, intent);
    const stored = this.#find(kind, namespace, name);
    if (!stored && options.subresource) throw notFound(kind.plural, kind.group, name);
    const manager = this.#manager(kind, options, 'Apply');
    const shape = shapeOf(kind);
    if (!stored) {
      checkAbsent(kind, name, body);
      this.#checkNamespace(kind, namespace);
      const metadata = { ...metadataOf(body), name, ...(kind.namespaced ? { namespace } : {}) };
      const object = { ...copy(intent), metadata };
      const fields = new Set(fieldsOf(object, shape).keys());
      return this.#write(kind, undefined, object, options, () => [{ ...manager, fields }]);
    }
    checkPatch(kind, stored, body);
    const { force = false } = options;
    const merged = applyIntent(stored.object, intent, stored.managers, manager, { force, shape });
    return this.#write(kind, stored, merged.object, options, () =>
      withManager(stored.managers, { ...manager, fields: merged.owned }, merged.taken),
    );
  }

  /** Only a JSON Patch reaches into managedFields, so only for one that does they are put in. */
  #withManagedFields(kind: Kind, stored: Stored, type: PatchType, body: Json): JsonObject {
    const live = copy(presented(kind, stored.object));
    const reaches = type === 'json' && JSON.stringify(body).includes('"/metadata/managedFields');
    return reaches
      ? { ...live, metadata: { ...metadataOf(live), managedFields: toManagedFields(stored.managers) } }
      : live;
  }

  /** An update or a patch: what changed belongs to the manager from now on. */
  #replace(kind: Kind, stored: Stored, body: JsonObject, options: WriteOptions): JsonObject {
    const part = partOf(kind, copy(body), options.subresource);
    const kept = options.subresource
      ? { ...stored.object, ...part }
      : { ...part, ...(kind.status ? pick(stored.object, 'status') : {}) };
    const { managedFields, ...metadata } = metadataOf(options.subresource ? stored.object : body);
    for (const field of OF_THE_SERVER) {
      const value = at(stored.object, 'metadata', field);
      if (value === undefined) delete metadata[field];
      else metadata[field] = value;
    }
    const rewritten = metadataOf(body).managedFields;
    const managers = rewritten ? fromManagedFields(rewritten) : stored.managers;
    const shape = shapeOf(kind);
    return this.#write(kind, stored, { ...copy(kept), metadata }, options, (final) =>
      afterUpdate(
        managers,
        this.#manager(kind, options, 'Update'),
        fieldsOf(presented(kind, stored.object), shape),
        fieldsOf(final, shape),
      ),
    );
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
    admit(kind, object, before && presented(kind, before.object), options.onDropped ?? (() => {}));
    const final = this.#withServerMetadata(kind, before?.object, object);
    const managers = managersFor(final);
    const next = storedForm(kind, final);
    if (before && isUnchanged(before, next, managers)) return presented(kind, before.object);
    if (options.dryRun) return final;
    // a deletion that only waited for its finalizers; measured: watchers see it go, not the last one being taken away
    const ends = isLeaving(final) && !hasFinalizers(final) && kind.kind !== 'Namespace';
    if (before && ends && !(kind.kind === 'Pod' && this.nodePresent)) {
      this.#deletion.remove(before);
      return final;
    }
    const stored = this.store.put({
      resource: resourceKey(kind),
      namespace: kind.namespaced ? (textAt(final, 'metadata', 'namespace') ?? '') : '',
      name: textAt(final, 'metadata', 'name') ?? '',
      object: next,
      managers,
    });
    return presented(kind, stored.object);
  }

  #withServerMetadata(kind: Kind, before: JsonObject | undefined, object: JsonObject): JsonObject {
    const generation = Number(at(before, 'metadata', 'generation') ?? 0);
    const counted = before && same(specOf(before), specOf(object)) ? generation : generation + 1;
    return {
      ...object,
      metadata: {
        ...metadataOf(object),
        uid: textAt(before, 'metadata', 'uid') ?? this.#uid(),
        creationTimestamp: textAt(before, 'metadata', 'creationTimestamp') ?? this.#now(),
        ...(kind.schema || kind.status ? { generation: counted } : {}),
      },
    };
  }

  #manager(kind: Kind, options: WriteOptions, operation: Manager['operation']): Manager {
    return {
      name: options.manager ?? 'unknown',
      operation,
      subresource: options.subresource ?? '',
      apiVersion: apiVersionOf(kind),
      time: this.#now(),
      fields: new Set(),
    };
  }

  #find(kind: Kind, namespace: string, name: string): Stored | undefined {
    return this.store.get(resourceKey(kind), kind.namespaced ? namespace : '', name);
  }

  #stored(kind: Kind, namespace: string, name: string): Stored {
    const stored = this.#find(kind, namespace, name);
    if (!stored) throw notFound(kind.plural, kind.group, name);
    return stored;
  }

  #checkNamespace(kind: Kind, namespace: string): void {
    if (!kind.namespaced) return;
    const found = this.store.get('namespaces.', '', namespace);
    if (!found) throw notFound('namespaces', '', namespace);
    if (isLeaving(found.object)) {
      throw new StatusError(
        'Forbidden',
        `unable to create new content in namespace ${namespace} because it is being terminated`,
      );
    }
  }

  #now(): string {
    return this.#clock()
      .toISOString()
      .replace(/\.\d+Z$/, 'Z');
  }
}

/** What an update cannot change, whatever its body says. */
const OF_THE_SERVER = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'namespace',
  'name',
  'resourceVersion',
];

/** Only the status, or everything but the status. */
function partOf(kind: Kind, object: JsonObject, subresource: 'status' | undefined): JsonObject {
  if (!kind.status) return object;
  if (subresource)
    return { ...pick(object, 'apiVersion'), ...pick(object, 'kind'), ...pick(object, 'status') };
  const { status, ...rest } = object;
  return rest;
}

function pick(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return value === undefined ? {} : { [key]: value };
}

/** What a generation counts changes of. */
const specOf = ({ metadata, status, ...rest }: JsonObject): JsonObject => rest;

function isUnchanged(before: Stored, next: JsonObject, managers: Managers): boolean {
  const withoutVersion = (object: JsonObject): JsonObject => {
    const { resourceVersion, ...metadata } = metadataOf(object);
    return { ...object, metadata };
  };
  return same(withoutVersion(before.object), withoutVersion(next)) && sameManagers(before.managers, managers);
}

function generatedName(kind: Kind, metadata: JsonObject, uid: () => string): string {
  const prefix = textAt(metadata, 'generateName');
  if (!prefix) {
    const what = kind.group ? `${kind.kind}.${kind.group}` : kind.kind;
    const why = 'metadata.name: Required value: name or generateName is required';
    throw new StatusError('Invalid', `${what} "" is invalid: ${why}`);
  }
  return `${prefix}${uid().replaceAll('-', '').slice(0, 8)}`;
}
