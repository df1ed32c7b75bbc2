/** The adapter of the `Cluster` port: what each call is in the Kubernetes API. */
import type { Event as CoreEvent } from 'kubernetes-types/core/v1.d.ts';
import { Permanent, Retryable } from '../errors.ts';
import type { Mysql } from '../resource/mysql.ts';
import { API_VERSION, FIELD_MANAGER, KIND } from '../resource/names.ts';
import type { Announcement, Cluster, Identity, Kind, Kinds, KubernetesObject, Marks } from './cluster.ts';
import type { Send } from './request.ts';
import { apiVersionOf, collectionPath, coreEventsPath, eventsPath, objectPath } from './resources.ts';

/** measured: server-side apply is accepted under this type only; a JSON body is fine, JSON being YAML. */
const APPLY = 'application/apply-patch+yaml';
const MERGE = 'application/merge-patch+json';
/** measured: bytes of UTF-8, whatever the refusal says of characters. */
const NOTE_LIMIT = 1_024;

interface List<T> {
  readonly items: readonly T[];
  readonly metadata?: { readonly continue?: string };
}

export interface ClientOptions {
  readonly send: Send;
  readonly clock: () => Date;
  /** Names this process in Events (reportingInstance), for example the pod's name. */
  readonly instance: string;
}

export class KubernetesClient implements Cluster {
  readonly #send: Send;
  readonly #clock: () => Date;
  readonly #instance: string;

  constructor({ send, clock, instance }: ClientOptions) {
    this.#send = send;
    this.#clock = clock;
    this.#instance = instance;
  }

  async get<K extends Kind>(kind: K, namespace: string, name: string, signal: AbortSignal) {
    try {
      const answer = await this.#send({ method: 'GET', path: objectPath(kind, namespace, name) }, signal);
      return answer as Kinds[K];
    } catch (error) {
      if (error instanceof Permanent && error.code === 404) return undefined;
      throw error;
    }
  }

  async list<K extends Kind>(
    kind: K,
    namespace: string,
    labels: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Kinds[K][]> {
    const query = { labelSelector: selector(labels) };
    const answer = await this.#send({ method: 'GET', path: collectionPath(kind, namespace), query }, signal);
    return withKind(kind, (answer as List<Kinds[K]>).items);
  }

  async *pages<K extends Kind>(
    kind: K,
    { labels, limit }: { readonly labels?: Readonly<Record<string, string>>; readonly limit: number },
    signal: AbortSignal,
  ): AsyncIterable<readonly Kinds[K][]> {
    let next = '';
    do {
      const query = {
        limit: `${limit}`,
        ...(labels ? { labelSelector: selector(labels) } : {}),
        ...(next ? { continue: next } : {}),
      };
      let page: List<Kinds[K]>;
      try {
        page = (await this.#send({ method: 'GET', path: collectionPath(kind), query }, signal)) as List<
          Kinds[K]
        >;
      } catch (error) {
        // the token outlived the server's history: begin again, seeing something twice is harmless
        if (!(error instanceof Retryable && error.code === 410 && next)) throw error;
        next = '';
        continue;
      }
      yield withKind(kind, page.items);
      next = page.metadata?.continue ?? '';
      if (next === '') return;
    } while (!signal.aborted);
    throw new Retryable(`listing ${kind}: deadline exceeded`);
  }

  async events(kind: Kind, namespace: string, name: string, signal: AbortSignal): Promise<CoreEvent[]> {
    const query = { fieldSelector: `involvedObject.kind=${kind},involvedObject.name=${name}` };
    const answer = await this.#send({ method: 'GET', path: coreEventsPath(namespace), query }, signal);
    return [...(answer as List<CoreEvent>).items].sort((a, b) => lastSeen(a) - lastSeen(b)).slice(-20);
  }

  async apply<K extends Kind>(kind: K, object: Kinds[K], live: Identity | undefined, signal: AbortSignal) {
    const { namespace = '', name = '' } = object.metadata ?? {};
    const query = { fieldManager: FIELD_MANAGER, ...(live ? { force: 'true' } : {}) };
    const body = live ? pinned(object, live) : object;
    const path = objectPath(kind, namespace, name);
    return (await this.#guarded(
      live,
      { method: 'PATCH', path, query, body, contentType: APPLY },
      signal,
    )) as Kinds[K];
  }

  async create<K extends Kind>(kind: K, object: Kinds[K], signal: AbortSignal) {
    const path = collectionPath(kind, object.metadata?.namespace ?? '');
    const query = { fieldManager: FIELD_MANAGER };
    return (await this.#send({ method: 'POST', path, query, body: object }, signal)) as Kinds[K];
  }

  async applyStatus(
    live: Identity,
    status: NonNullable<Mysql['status']>,
    signal: AbortSignal,
  ): Promise<Mysql> {
    const body = pinned({ apiVersion: API_VERSION, kind: KIND, metadata: identified(live), status }, live);
    const path = `${objectPath('Mysql', live.namespace, live.name)}/status`;
    const query = { fieldManager: FIELD_MANAGER, force: 'true' };
    return (await this.#guarded(
      live,
      { method: 'PATCH', path, query, body, contentType: APPLY },
      signal,
    )) as Mysql;
  }

  async patchMetadata(live: Identity, marks: Marks, signal: AbortSignal): Promise<void> {
    const { kind, uid, resourceVersion } = live;
    const body = { apiVersion: apiVersionOf(kind), kind, metadata: { uid, resourceVersion, ...marks } };
    const path = objectPath(live.kind, live.namespace, live.name);
    const query = { fieldManager: FIELD_MANAGER };
    await this.#guarded(live, { method: 'PATCH', path, query, body, contentType: MERGE }, signal);
  }

  async delete(live: Identity, { orphan }: { readonly orphan: boolean }, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion } = live;
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid, resourceVersion },
      propagationPolicy: orphan ? 'Orphan' : 'Background',
    };
    try {
      await this.#send(
        { method: 'DELETE', path: objectPath(live.kind, live.namespace, live.name), body },
        signal,
      );
    } catch (error) {
      if (!(error instanceof Permanent && error.code === 404)) throw error;
    }
  }

  async announce(
    { regarding, type, reason, action, note }: Announcement,
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace = '', name = '', uid = '' } = regarding.metadata;
    const body = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { generateName: `${name}-`, namespace },
      // the API takes microseconds only: "…04.788000Z"
      eventTime: this.#clock().toISOString().replace('Z', '000Z'),
      reportingController: FIELD_MANAGER,
      reportingInstance: this.#instance,
      type,
      reason,
      action,
      note: cut(note),
      regarding: { apiVersion: API_VERSION, kind: KIND, namespace, name, uid },
    };
    await this.#send({ method: 'POST', path: eventsPath(namespace), body }, signal);
  }

  /** A write on one incarnation that is not there any more: gone (404), or another one of the same name (measured: 409 or 422). */
  async #guarded(
    live: Identity | undefined,
    request: Parameters<Send>[0],
    signal: AbortSignal,
  ): Promise<unknown> {
    try {
      return await this.#send(request, signal);
    } catch (error) {
      if (live && error instanceof Permanent && isReplaced(error)) {
        throw new Retryable(error.message, { cause: error, ...(error.code ? { code: error.code } : {}) });
      }
      throw error;
    }
  }
}

const isReplaced = ({ code, message }: Permanent): boolean =>
  code === 404 || (code === 422 && message.includes('metadata.uid: '));

function cut(note: string): string {
  if (Buffer.byteLength(note) <= NOTE_LIMIT) return note;
  // a character that is cut in two decodes to U+FFFD; the ellipsis takes three bytes
  const kept = Buffer.from(note)
    .subarray(0, NOTE_LIMIT - 3)
    .toString()
    .replace(/\uFFFD+$/, '');
  return `${kept}…`;
}

const selector = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

/** Items of a list come without kind and apiVersion. */
const withKind = <K extends Kind>(kind: K, items: readonly Kinds[K][]): Kinds[K][] =>
  items.map((item) => ({ ...item, apiVersion: apiVersionOf(kind), kind }));

const identified = ({ namespace, name }: Identity) => ({ namespace, name });

const pinned = <T extends KubernetesObject>(object: T, { uid, resourceVersion }: Identity): T => ({
  ...object,
  metadata: { ...object.metadata, uid, resourceVersion },
});

const lastSeen = (event: CoreEvent): number =>
  Date.parse(
    event.series?.lastObservedTime ??
      event.lastTimestamp ??
      event.eventTime ??
      event.metadata.creationTimestamp ??
      '',
  ) || 0;
