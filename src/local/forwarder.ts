/**
 * Forwards changes as Knative's ApiServerSource adapter does: one event at a time per kind, the same retries, and nothing that existed
 * before it started or happened while it was away.
 */
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type AdapterEvent, type AdapterRequest, requestFor, type Verb } from './adapter-event.ts';
import type { Api } from './api/api.ts';
import { type JsonObject, textAt } from './api/json.ts';
import { type Kind, resourceKey } from './api/kinds.ts';
import { toManagedFields } from './api/managers.ts';
import { labelSelector } from './api/selectors.ts';
import type { Change } from './api/store.ts';
import { seenAs } from './api/watch.ts';

export interface ForwardedEvent {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly verb: Verb;
  /** Status of the last try; 0 when none was answered. */
  readonly status: number;
  readonly tries: number;
}

export interface ForwarderOptions {
  readonly api: Api;
  /** The API server's address: ce-source. */
  readonly source: string;
  readonly sink: string;
  readonly resources: readonly { readonly kind: Kind; readonly labelSelector?: string }[];
  readonly mode?: 'Reference' | 'Resource';
  /** Namespace of the source itself (header Kn-Namespace). */
  readonly namespace?: string;
  readonly onForwarded?: (event: ForwardedEvent) => void;
  readonly clock?: () => Date;
  /** Milliseconds between two tries. */
  readonly pause?: (milliseconds: number) => Promise<unknown>;
  /** Takes a request to the sink; gives the status of the answer, 0 without one. HTTP when absent. */
  readonly post?: (request: AdapterRequest) => Promise<number>;
}

/** measured: six tries, at 0, 0.1, 0.3, 0.7, 1.5 and 3.1 s. In milliseconds, before each try. */
export const PAUSES: readonly number[] = [0, 100, 200, 400, 800, 1_600];
/** measured: everything else is dropped after one try. 0: refused, or reset before the response. */
const RETRIED: ReadonlySet<number> = new Set([0, 404, 413, 425, 429, 502, 503, 504]);

const VERBS = { ADDED: 'add', MODIFIED: 'update', DELETED: 'delete' } as const;

export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #agent = new Agent({ keepAlive: true });
  /** One line a kind: delivery is serial within it. */
  readonly #lines = new Map<string, Promise<void>>();
  readonly #stopWatching: () => void;
  #stopped = false;
  #pending = 0;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    const watched = options.resources.map((resource) => ({
      kind: resource.kind,
      matches: labelSelector(resource.labelSelector),
    }));
    this.#stopWatching = options.api.onChange((change) => {
      for (const { kind, matches } of watched) {
        if (change.stored.resource !== resourceKey(kind)) continue;
        const seen = seenAs(change, undefined, matches, (object) => object);
        if (seen) this.#enqueue({ kind, verb: VERBS[seen.type], object: withManagedFields(change) });
      }
    });
  }

  /** Events that wait or are being delivered. */
  get pending(): number {
    return this.#pending;
  }

  /** The delivery in flight is finished, what waits is lost, as at the adapter's SIGTERM. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stopWatching();
    await Promise.all(this.#lines.values());
    this.#agent.destroy();
  }

  /** Resolves when nothing waits and nothing is under way. */
  async idle(): Promise<void> {
    while (this.#pending > 0) await Promise.all(this.#lines.values());
  }

  #enqueue(event: AdapterEvent): void {
    const key = event.kind.kind;
    const before = this.#lines.get(key) ?? Promise.resolve();
    this.#pending += 1;
    this.#lines.set(
      key,
      before.then(async () => {
        if (!this.#stopped) await this.#deliver(event);
        this.#pending -= 1;
      }),
    );
  }

  async #deliver(event: AdapterEvent): Promise<void> {
    const { source, mode = 'Reference', namespace = 'mysql-operator' } = this.#options;
    const { clock = () => new Date(), pause = wait, onForwarded } = this.#options;
    const { post = (request: AdapterRequest) => this.#post(request) } = this.#options;
    // made once: the id stays over the tries, it is one event
    const sent = requestFor(event, { source, mode, namespace, id: randomUUID(), time: clock() });
    let status = 0;
    let tries = 0;
    for (const milliseconds of PAUSES) {
      if (milliseconds > 0) await pause(milliseconds);
      tries += 1;
      status = await post(sent);
      if (!RETRIED.has(status) || this.#stopped) break;
    }
    onForwarded?.({
      kind: event.kind.kind,
      namespace: textAt(event.object, 'metadata', 'namespace') ?? '',
      name: textAt(event.object, 'metadata', 'name') ?? '',
      verb: event.verb,
      status,
      tries,
    });
  }

  /** The status of the answer; 0 without one. There is no time limit: a sink that hangs holds back its kind, as it does in production. */
  #post({ headers, body }: AdapterRequest): Promise<number> {
    return new Promise((resolve) => {
      const options = { method: 'POST', agent: this.#agent, headers };
      const sent = request(this.#options.sink, options, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
        response.on('error', () => resolve(0));
      });
      // Go says nothing about the connection; it is kept all the same
      sent.removeHeader('Connection');
      sent.on('error', () => resolve(0));
      sent.end(body);
    });
  }
}

function withManagedFields({ stored: { object, managers } }: Change): JsonObject {
  return {
    ...object,
    metadata: { ...(object.metadata as JsonObject), managedFields: toManagedFields(managers) },
  };
}
