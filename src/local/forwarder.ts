/**
 * Forwards changes as Knative's ApiServerSource adapter does: same headers and bodies, one event at a time per kind, the same retries,
 * and nothing that existed before it started or happened while it was away.
 */
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import type { Api } from './api/api.ts';
import { type JsonObject, textAt } from './api/json.ts';
import { apiVersionOf, type Kind } from './api/kinds.ts';
import { toManagedFields } from './api/managers.ts';
import { labelSelector, type Selector } from './api/selectors.ts';
import { seenAs } from './api/watch.ts';

export interface ForwardedEvent {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly verb: 'add' | 'update' | 'delete';
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
}

/** measured: pauses before each of the six tries, in milliseconds. */
export const PAUSES: readonly number[] = [0, 100, 200, 400, 800, 1_600];
/** measured: everything else is dropped after one try. */
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
      ...resource,
      matches: labelSelector(resource.labelSelector),
    }));
    this.#stopWatching = options.api.onChange((change) => {
      for (const { kind, matches } of watched) {
        if (change.stored.resource !== `${kind.plural}.${kind.group}`) continue;
        const event = seenAs(change, undefined, matches as Selector, (object) => object);
        const managers = toManagedFields(change.stored.managers);
        if (event) this.#enqueue(kind, VERBS[event.type], withManagedFields(event.object, managers));
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

  #enqueue(kind: Kind, verb: ForwardedEvent['verb'], object: JsonObject): void {
    this.#pending += 1;
    const before = this.#lines.get(kind.kind) ?? Promise.resolve();
    this.#lines.set(
      kind.kind,
      before.then(async () => {
        if (!this.#stopped) await this.#deliver(kind, verb, object);
        this.#pending -= 1;
      }),
    );
  }

  async #deliver(kind: Kind, verb: ForwardedEvent['verb'], object: JsonObject): Promise<void> {
    const body = this.#bodyOf(kind, object);
    const headers = this.#headersOf(kind, verb, object, body);
    let status = 0;
    let tries = 0;
    for (const pause of PAUSES) {
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
      tries += 1;
      status = await this.#post(headers, body);
      if (!RETRIED.has(status) || this.#stopped) break;
    }
    this.#options.onForwarded?.({
      kind: kind.kind,
      namespace: textAt(object, 'metadata', 'namespace') ?? '',
      name: textAt(object, 'metadata', 'name') ?? '',
      verb,
      status,
      tries,
    });
  }

  #bodyOf(kind: Kind, object: JsonObject): string {
    if (this.#options.mode === 'Resource') return JSON.stringify(object);
    const namespace = textAt(object, 'metadata', 'namespace') ?? '';
    return JSON.stringify({
      kind: kind.kind,
      namespace,
      name: textAt(object, 'metadata', 'name') ?? '',
      apiVersion: apiVersionOf(kind),
    });
  }

  #headersOf(
    kind: Kind,
    verb: ForwardedEvent['verb'],
    object: JsonObject,
    body: string,
  ): Record<string, string> {
    const namespace = textAt(object, 'metadata', 'namespace') ?? '';
    const name = textAt(object, 'metadata', 'name') ?? '';
    const mode = this.#options.mode === 'Resource' ? 'resource' : 'ref';
    return {
      Host: new URL(this.#options.sink).host,
      'User-Agent': 'Go-http-client/1.1',
      'Content-Length': `${Buffer.byteLength(body)}`,
      'Ce-Apiversion': apiVersionOf(kind),
      'Ce-Id': randomUUID(),
      'Ce-Kind': kind.kind,
      'Ce-Name': name,
      'Ce-Namespace': namespace,
      'Ce-Source': this.#options.source,
      'Ce-Specversion': '1.0',
      'Ce-Subject': `/apis/${apiVersionOf(kind)}/namespaces/${namespace}/${kind.plural}/${name}`,
      'Ce-Time': new Date().toISOString().replace('Z', '000000Z'),
      'Ce-Type': `dev.knative.apiserver.${mode}.${verb}`,
      'Content-Type': 'application/json',
      'Kn-Namespace': this.#options.namespace ?? 'mysql-operator',
      'Accept-Encoding': 'gzip',
    };
  }

  #post(headers: Record<string, string>, body: string): Promise<number> {
    return new Promise((resolve) => {
      const sent = request(
        this.#options.sink,
        { method: 'POST', agent: this.#agent, headers },
        (response) => {
          response.resume();
          response.on('end', () => resolve(response.statusCode ?? 0));
          response.on('error', () => resolve(0));
        },
      );
      sent.on('error', () => resolve(0));
      sent.end(body);
    });
  }
}

const withManagedFields = (
  object: JsonObject,
  managedFields: ReturnType<typeof toManagedFields>,
): JsonObject => ({
  ...object,
  metadata: { ...(object.metadata as JsonObject), managedFields },
});
