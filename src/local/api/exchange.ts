/** One request to one resource of the embedded API: from the address and the body to the verb, and back to JSON, Table or a stream. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse as parseYaml } from 'yaml';
import { send } from './answer.ts';
import type { Api, PatchType } from './api.ts';
import type { DeleteOptions } from './deletion.ts';
import { isObject, type Json, type JsonObject, metadataOf, textAt } from './json.ts';
import { apiVersionOf, type Kind } from './kinds.ts';
import { listPage, type Page } from './list.ts';
import { toManagedFields } from './managers.ts';
import type { Route } from './route.ts';
import { toScale, withScale } from './scale.ts';
import { everything, fieldSelector, labelSelector, type Selector } from './selectors.ts';
import { invalid, StatusError } from './status-error.ts';
import { toTable } from './table.ts';
import { bookmark, type WatchEvent, watch } from './watch.ts';

export interface ExchangeOptions {
  readonly clock?: () => Date;
  /** Text of a pod's log. */
  readonly logOf?: (namespace: string, pod: string) => string;
}

const MEDIA: Readonly<Record<string, PatchType>> = {
  'application/apply-patch+yaml': 'apply',
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
};

/** kubectl and controllers reconnect to watches by themselves; so that this is seen here too, none lasts for ever. */
const WATCH_SECONDS = 1_800;

export class Exchange {
  readonly #api: Api;
  readonly #options: ExchangeOptions;
  readonly #kind: Kind;
  readonly #route: Route;
  readonly #query: URLSearchParams;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #body: string;
  readonly #warnings: string[] = [];

  constructor(
    api: Api,
    options: ExchangeOptions,
    kind: Kind,
    route: Route,
    query: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
    body: string,
  ) {
    this.#api = api;
    this.#options = options;
    this.#kind = kind;
    this.#route = route;
    this.#query = query;
    this.#request = request;
    this.#response = response;
    this.#body = body;
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
    if (method === 'GET' && /^(true|1)$/.test(this.#query.get('watch') ?? '')) this.#watch();
    else if (method === 'GET') this.#list();
    else if (method === 'POST') this.#create(namespace ?? '');
    else if (method === 'DELETE') this.#deleteCollection(namespace);
    else throw notAllowed();
  }

  #create(namespace: string): void {
    this.#answer(this.#api.create(this.#kind, namespace, this.#bodyObject(), this.#writeOptions()), 201);
  }

  #deleteCollection(namespace: string | undefined): void {
    const gone = this.#api.list(this.#kind, namespace).filter(this.#selector() ?? everything);
    const options = this.#deleteOptions();
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
        matches: this.#selector(),
        limit: Number(this.#query.get('limit') ?? 0),
        continueToken: this.#query.get('continue') ?? undefined,
      }),
    );
  }

  #answerList({ items, resourceVersion, next, remaining }: Page): void {
    const metadata: JsonObject = {
      resourceVersion,
      ...(next ? { continue: next } : {}),
      ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
    };
    const list = this.#wantsTable()
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
      matches: this.#selector() ?? everything,
      resourceVersion: this.#query.get('resourceVersion') ?? '',
      initialEvents: this.#query.get('sendInitialEvents') === 'true',
    };
    const bookmarks = this.#query.get('allowWatchBookmarks') === 'true';
    const write = ({ type, object }: WatchEvent) => this.#writeLine(type, this.#shown(object));
    this.#response.writeHead(200, { 'content-type': 'application/json' });
    this.#response.flushHeaders();
    try {
      const stop = watch(this.#api, this.#kind, query, write);
      const seconds = Number(this.#query.get('timeoutSeconds') ?? WATCH_SECONDS);
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
    const body = this.#bodyObject();
    if (subresource === 'scale') this.#scale(name, body);
    else this.#answer(this.#api.update(this.#kind, namespace, name, body, this.#writeOptions()));
  }

  #patch(name: string): void {
    const { namespace = '', subresource } = this.#route;
    const media = (this.#request.headers['content-type'] ?? '').split(';')[0]?.trim() ?? '';
    // custom resources know no strategic merge
    const accepted = Object.keys(MEDIA).filter((one) => !this.#kind.schema || MEDIA[one] !== 'strategic');
    const type = MEDIA[media];
    if (!type || !accepted.includes(media)) {
      throw new StatusError(
        'UnsupportedMediaType',
        `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
      );
    }
    const body = this.#parsedBody();
    if (subresource === 'scale') {
      const current = toScale(this.#kind, this.#live(name));
      const { spec } = isObject(body) ? body : {};
      this.#scale(name, { ...current, spec: spec ?? current.spec ?? {} });
      return;
    }
    const created = this.#api.find(this.#kind, namespace, name) === undefined;
    const force = this.#query.get('force') === 'true';
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
    const left = this.#api.delete(this.#kind, namespace, name, this.#deleteOptions());
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

  /** Undefined when everything is asked for. */
  #selector(): Selector | undefined {
    const labels = this.#query.get('labelSelector');
    const fields = this.#query.get('fieldSelector');
    if (!labels && !fields) return undefined;
    const byLabel = labelSelector(labels ?? undefined);
    const byField = fieldSelector(this.#kind, fields ?? undefined);
    return (object) => byLabel(object) && byField(object);
  }

  #dryRun(options: string): boolean {
    const asked = this.#query.get('dryRun');
    if (asked === null || asked === '' || asked === 'All') return asked === 'All';
    const message = `Unsupported value: ${JSON.stringify(asked)}: supported values: "All"`;
    throw invalid(options, 'meta.k8s.io', '', [
      { field: 'dryRun', reason: 'FieldValueNotSupported', message },
    ]);
  }

  #writeOptions() {
    const strict = this.#query.get('fieldValidation') === 'Strict';
    // like the real one: apply has to name its manager, for the rest the client's name will do
    const applies = this.#request.headers['content-type']?.startsWith('application/apply-patch');
    const agent = applies ? undefined : this.#request.headers['user-agent']?.split('/')[0];
    const manager = this.#query.get('fieldManager') ?? agent;
    return {
      ...(manager ? { manager } : {}),
      dryRun: this.#dryRun('PatchOptions'),
      ...(this.#route.subresource === 'status' ? { subresource: 'status' as const } : {}),
      onDropped: (fields: readonly string[]) => {
        const list = fields.map((field) => `unknown field "${field}"`);
        if (strict)
          throw new StatusError(
            'BadRequest',
            `${this.#kind.kind} in version "${this.#kind.version}" cannot be handled as a ${this.#kind.kind}: strict decoding error: ${list.join(', ')}`,
          );
        this.#warnings.push(...list);
      },
    };
  }

  #deleteOptions(): DeleteOptions {
    const body = this.#body === '' ? {} : this.#bodyObject();
    const grace = body.gracePeriodSeconds ?? this.#query.get('gracePeriodSeconds');
    const propagation = textAt(body, 'propagationPolicy') ?? this.#query.get('propagationPolicy');
    const uid = textAt(body, 'preconditions', 'uid');
    const resourceVersion = textAt(body, 'preconditions', 'resourceVersion');
    return {
      ...(uid ? { uid } : {}),
      ...(resourceVersion ? { resourceVersion } : {}),
      ...(propagation === 'Orphan' || propagation === 'Foreground' || propagation === 'Background'
        ? { propagation }
        : {}),
      ...(grace === undefined || grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
      dryRun: this.#dryRun('DeleteOptions'),
    };
  }

  #bodyObject(): JsonObject {
    const body = this.#parsedBody();
    if (!isObject(body)) throw new StatusError('BadRequest', 'the body of the request must be an object');
    return body;
  }

  #parsedBody(): Json {
    try {
      return this.#body.trimStart().startsWith('{') || this.#body.trimStart().startsWith('[')
        ? JSON.parse(this.#body)
        : parseYaml(this.#body);
    } catch (error) {
      throw new StatusError('BadRequest', `error decoding the body: ${(error as Error).message}`);
    }
  }

  #wantsTable(): boolean {
    return (this.#request.headers.accept ?? '').includes('as=Table');
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
    if (!this.#wantsTable()) return this.#withManagedFields(object);
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
