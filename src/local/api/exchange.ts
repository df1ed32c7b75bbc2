/** One request to one resource of the embedded API: from the address and the body to the verb, and back to JSON, Table or a stream. */
import type { ServerResponse } from 'node:http';
import { send } from './answer.ts';
import type { Api, WriteOptions } from './api.ts';
import type { Inquiry } from './inquiry.ts';
import { isObject, type JsonObject, metadataOf, textAt } from './json.ts';
import { apiVersionOf, type Kind } from './kinds.ts';
import { listPage, type Page } from './list.ts';
import { toManagedFields } from './managers.ts';
import type { Route } from './route.ts';
import { toScale, withScale } from './scale.ts';
import { everything } from './selectors.ts';
import { StatusError } from './status-error.ts';
import { toTable } from './table.ts';
import { bookmark, type WatchEvent, watch } from './watch.ts';

export interface ExchangeOptions {
  readonly clock?: () => Date;
  /** Text of a pod's log. */
  readonly logOf?: (namespace: string, pod: string) => string;
}

/** kubectl and controllers reconnect to watches by themselves; so that this is seen here too, none lasts for ever. */
const WATCH_SECONDS = 1_800;

export class Exchange {
  readonly #api: Api;
  readonly #options: ExchangeOptions;
  readonly #kind: Kind;
  readonly #route: Route;
  readonly #asked: Inquiry;
  readonly #response: ServerResponse;
  readonly #warnings: string[] = [];

  constructor(
    api: Api,
    options: ExchangeOptions,
    kind: Kind,
    route: Route,
    asked: Inquiry,
    response: ServerResponse,
  ) {
    this.#api = api;
    this.#options = options;
    this.#kind = kind;
    this.#route = route;
    this.#asked = asked;
    this.#response = response;
  }

  serve(method: string): void {
    const { name, subresource } = this.#route;
    if (subresource && !['status', 'scale', 'log'].includes(subresource)) {
      throw new StatusError(
        'NotImplemented',
        `the embedded cluster has no ${this.#route.plural}/${subresource}`,
      );
    }
    if (subresource === 'status' && !this.#kind.status) {
      throw new StatusError('NotFound', 'the server could not find the requested resource');
    }
    if (subresource === 'log') this.#log();
    else if (name === undefined) this.#collection(method);
    else if (method === 'GET') this.#get(name);
    else if (method === 'PUT') this.#put(name);
    else if (method === 'PATCH') this.#patch(name);
    else if (method === 'DELETE') this.#delete(name);
    else throw notAllowed();
  }

  // --- collections ---------------------------------------------------------------------------------------------------------------

  #collection(method: string): void {
    const { namespace } = this.#route;
    if (method === 'GET' && /^(true|1)$/.test(this.#asked.query.get('watch') ?? '')) this.#watch();
    else if (method === 'GET') this.#list();
    else if (method === 'POST') this.#create(namespace ?? '');
    else if (method === 'DELETE') this.#deleteCollection(namespace);
    else throw notAllowed();
  }

  #create(namespace: string): void {
    this.#answer(this.#api.create(this.#kind, namespace, this.#asked.object, this.#writeOptions()), 201);
  }

  #deleteCollection(namespace: string | undefined): void {
    const gone = this.#api.list(this.#kind, namespace).filter(this.#asked.selector ?? everything);
    const options = this.#asked.deleteOptions();
    for (const object of gone) {
      const { namespace: space, name } = metadataOf(object);
      this.#api.delete(this.#kind, String(space ?? ''), String(name), options);
    }
    const resourceVersion = `${this.#api.store.version}`;
    this.#answerList({ items: gone, resourceVersion, next: undefined, remaining: undefined });
  }

  #list(): void {
    this.#answerList(
      listPage(this.#api, this.#kind, {
        namespace: this.#route.namespace,
        matches: this.#asked.selector,
        limit: Number(this.#asked.query.get('limit') ?? 0),
        continueToken: this.#asked.query.get('continue') ?? undefined,
      }),
    );
  }

  #answerList({ items, resourceVersion, next, remaining }: Page): void {
    const metadata: JsonObject = {
      resourceVersion,
      ...(next ? { continue: next } : {}),
      ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
    };
    const list = this.#asked.wantsTable
      ? toTable(this.#kind, items, metadata, this.#now())
      : {
          kind: `${this.#kind.kind}List`,
          apiVersion: apiVersionOf(this.#kind),
          metadata,
          items: items.map((item) => this.#withManagedFields(item)),
        };
    this.#send(200, list);
  }

  #watch(): void {
    const query = {
      namespace: this.#route.namespace,
      matches: this.#asked.selector ?? everything,
      resourceVersion: this.#asked.query.get('resourceVersion') ?? '',
      initialEvents: this.#asked.query.get('sendInitialEvents') === 'true',
    };
    const bookmarks = this.#asked.query.get('allowWatchBookmarks') === 'true';
    const write = ({ type, object }: WatchEvent) => this.#writeLine(type, this.#shown(object));
    this.#response.writeHead(200, { 'content-type': 'application/json' });
    this.#response.flushHeaders();
    try {
      const stop = watch(this.#api, this.#kind, query, write);
      const seconds = Number(this.#asked.query.get('timeoutSeconds') ?? WATCH_SECONDS);
      const timer = setTimeout(() => {
        if (bookmarks) write(bookmark(this.#api, this.#kind));
        this.#response.end();
      }, seconds * 1_000).unref();
      this.#response.on('close', () => {
        stop();
        clearTimeout(timer);
      });
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      this.#writeLine('ERROR', error.toJson());
      this.#response.end();
    }
  }

  #writeLine(type: string, object: JsonObject): void {
    this.#response.write(`${JSON.stringify({ type, object })}\n`);
  }

  // --- single objects --------------------------------------------------------------------------------------------------------------

  #get(name: string): void {
    const live = this.#live(name);
    if (this.#route.subresource === 'scale') this.#send(200, toScale(this.#kind, live));
    else this.#answer(live);
  }

  #put(name: string): void {
    const { namespace = '', subresource } = this.#route;
    const body = this.#asked.object;
    if (subresource === 'scale') this.#scale(name, body);
    else this.#answer(this.#api.update(this.#kind, namespace, name, body, this.#writeOptions()));
  }

  #patch(name: string): void {
    const { namespace = '', subresource } = this.#route;
    const type = this.#asked.patchType;
    const { body } = this.#asked;
    if (subresource === 'scale') {
      const current = toScale(this.#kind, this.#live(name));
      const { spec } = isObject(body) ? body : {};
      this.#scale(name, { ...current, spec: spec ?? current.spec ?? {} });
      return;
    }
    const created = this.#api.find(this.#kind, namespace, name) === undefined;
    const force = this.#asked.query.get('force') === 'true';
    this.#answer(
      this.#api.patch(this.#kind, namespace, name, type, body, { ...this.#writeOptions(), force }),
      created ? 201 : 200,
    );
  }

  #scale(name: string, scale: JsonObject): void {
    const next = withScale(this.#kind, this.#live(name), scale);
    const { subresource, ...options } = this.#writeOptions();
    const scaled = this.#api.update(this.#kind, this.#route.namespace ?? '', name, next, options);
    this.#send(200, toScale(this.#kind, scaled));
  }

  #delete(name: string): void {
    const { namespace = '' } = this.#route;
    const { uid } = metadataOf(this.#live(name));
    const left = this.#api.delete(this.#kind, namespace, name, this.#asked.deleteOptions());
    if (left) {
      this.#answer(left);
      return;
    }
    const { group, plural } = this.#kind;
    const details: JsonObject = { name, ...(group ? { group } : {}), kind: plural, uid: uid ?? '' };
    this.#send(200, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });
  }

  #log(): void {
    const { namespace = '', name = '' } = this.#route;
    this.#live(name);
    this.#response
      .writeHead(200, { 'content-type': 'text/plain' })
      .end(this.#options.logOf?.(namespace, name) ?? '');
  }

  // --- forms -----------------------------------------------------------------------------------------------------------------------

  #live(name: string): JsonObject {
    return this.#api.get(this.#kind, this.#route.namespace ?? '', name);
  }

  #writeOptions(): WriteOptions {
    const options = this.#asked.writeOptions((text) => this.#warnings.push(text));
    return this.#route.subresource === 'status' ? { ...options, subresource: 'status' } : options;
  }

  /** managedFields are kept beside the objects and put in on the way out. */
  #withManagedFields(object: JsonObject): JsonObject {
    const { namespace, name } = metadataOf(object);
    const managers = this.#api.managersOf(this.#kind, String(namespace ?? ''), String(name));
    if (managers.length === 0) return object;
    return { ...object, metadata: { ...metadataOf(object), managedFields: toManagedFields(managers) } };
  }

  /** One object in the form that was asked for. */
  #shown(object: JsonObject): JsonObject {
    if (!this.#asked.wantsTable) return this.#withManagedFields(object);
    const metadata = { resourceVersion: textAt(object, 'metadata', 'resourceVersion') ?? '' };
    return toTable(this.#kind, [object], metadata, this.#now());
  }

  #answer(object: JsonObject, status = 200): void {
    this.#send(status, this.#shown(object));
  }

  #send(status: number, body: JsonObject): void {
    const warnings = this.#warnings.map((text) => `299 - ${JSON.stringify(text)}`);
    send(this.#response, status, body, warnings.length > 0 ? { warning: warnings } : {});
  }

  #now(): Date {
    return this.#options.clock?.() ?? new Date();
  }
}

const notAllowed = (): StatusError =>
  new StatusError('MethodNotAllowed', 'the server does not allow this method on the requested resource');
