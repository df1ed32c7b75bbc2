/**
 * The `Cluster` port: all that the function asks of a Kubernetes API server. Its adapter is client.ts; tests put
 * perturbations in front of it, one method at a time.
 *
 * Every method takes an AbortSignal as deadline and throws only `Retryable` or `Permanent` (src/errors.ts):
 * Retryable for 408/409/429/5xx, connection errors and an expired deadline, Permanent for the rest.
 */
import type { StatefulSet } from 'kubernetes-types/apps/v1.d.ts';
import type {
  ConfigMap,
  Event as CoreEvent,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Service,
} from 'kubernetes-types/core/v1.d.ts';
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts';
import type { Mysql } from '../resource/mysql.ts';

/** The kinds the function reads or writes, as plain JSON (no Date objects, unknown fields kept). */
export interface Kinds {
  readonly Mysql: Mysql;
  readonly StatefulSet: StatefulSet;
  readonly Service: Service;
  readonly ConfigMap: ConfigMap;
  readonly Secret: Secret;
  readonly PodDisruptionBudget: PodDisruptionBudget;
  readonly Pod: Pod;
  readonly PersistentVolumeClaim: PersistentVolumeClaim;
}
export type Kind = keyof Kinds;

/** What every object has. `kind` and `apiVersion` are always filled in, also on the items of a list. */
export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: ObjectMeta;
}

/** One exact incarnation of an object: a write that carries it touches nothing else. */
export interface Identity {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Null: is to be absent. */
export interface Marks {
  readonly labels?: Readonly<Record<string, string | null>>;
  readonly annotations?: Readonly<Record<string, string | null>>;
}

/** A Kubernetes Event to be recorded on a Mysql (events.k8s.io/v1). */
export interface Announcement {
  readonly regarding: Mysql;
  readonly type: 'Normal' | 'Warning';
  /** UpperCamelCase, one of the states or conditions' reasons. */
  readonly reason: string;
  /** UpperCamelCase verb of what the function did. */
  readonly action: string;
  /** For a person; cut at 1,024 bytes (the API's limit) by the adapter. */
  readonly note: string;
}

export interface Cluster {
  /** The live object, never from a cache; undefined when it does not exist. */
  get<K extends Kind>(
    kind: K,
    namespace: string,
    name: string,
    signal: AbortSignal,
  ): Promise<Kinds[K] | undefined>;

  /** All objects of a namespace that carry every one of `labels`. */
  list<K extends Kind>(
    kind: K,
    namespace: string,
    labels: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Kinds[K][]>;

  /**
   * All objects of all namespaces in pages of `limit`, so that memory stays flat. A page whose continue token
   * expired (410) is restarted from the beginning by the adapter: an object may then come twice, none is missed.
   */
  pages<K extends Kind>(
    kind: K,
    options: { readonly labels?: Readonly<Record<string, string>>; readonly limit: number },
    signal: AbortSignal,
  ): AsyncIterable<readonly Kinds[K][]>;

  /** The newest core/v1 Events that regard this object (at most 20), newest last: why a pod cannot be created. */
  events(kind: Kind, namespace: string, name: string, signal: AbortSignal): Promise<CoreEvent[]>;

  /**
   * Server-side apply as field manager `mysql-operator`.
   * With `live`: uid and resourceVersion go into the body and conflicts are forced, so it changes that very object in that
   * very state or fails Retryable. Without: the object is to be created; not forced, so that a foreign object of the
   * same name answers with a conflict instead of being taken over.
   */
  apply<K extends Kind>(
    kind: K,
    object: Kinds[K],
    live: Identity | undefined,
    signal: AbortSignal,
  ): Promise<Kinds[K]>;

  /** Plain create: never overwrites. Retryable when it already exists. */
  create<K extends Kind>(kind: K, object: Kinds[K], signal: AbortSignal): Promise<Kinds[K]>;

  /** Applies the whole status by compare-and-swap on `live`'s uid and resourceVersion. */
  applyStatus(live: Identity, status: NonNullable<Mysql['status']>, signal: AbortSignal): Promise<Mysql>;

  /**
   * Sets labels and annotations, and removes those that are null, by a merge patch that carries uid and resourceVersion. An apply would
   * not do: it takes away only what it set itself, and these are ours whoever set them.
   */
  patchMetadata(live: Identity, marks: Marks, signal: AbortSignal): Promise<void>;

  /**
   * Deletes that very incarnation in that very state (preconditions uid and resourceVersion).
   * `orphan` leaves the dependents alive. An object already gone is success.
   */
  delete(live: Identity, options: { readonly orphan: boolean }, signal: AbortSignal): Promise<void>;

  /** Records an Event; best effort is the caller's choice, this throws like the rest. */
  announce(announcement: Announcement, signal: AbortSignal): Promise<void>;
}

/** The identity of a live object that came from this port. Throws a plain Error when a server left out uid or resourceVersion. */
export function identityOf(kind: Kind, object: KubernetesObject): Identity {
  const { namespace, name, uid, resourceVersion } = object.metadata ?? {};
  if (!namespace || !name || !uid || !resourceVersion) {
    throw new Error(`${kind} ${namespace}/${name} has no uid or resourceVersion: not a live object`);
  }
  return { kind, namespace, name, uid, resourceVersion };
}
