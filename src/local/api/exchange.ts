/** One request to one resource of the embedded API: from the address and the body to the verb, and back to JSON, Table or a stream. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse as parseYaml } from 'yaml';
import { send } from './answer.ts';
import { type Api, type DeleteOptions, metadataOf, type PatchType } from './api.ts';
import { isObject, type Json, type JsonObject, textAt } from './json.ts';
import { apiVersionOf, type Kind } from './kinds.ts';
import { toManagedFields } from './managers.ts';
import type { Route } from './route.ts';
import { toScale, withScale } from './scale.ts';
import { fieldSelector, labelSelector, type Selector } from './selectors.ts';
import { StatusError } from './status-error.ts';
import { toTable } from './table.ts';
import { listPage, seenAs } from './watch.ts';

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
    else
      throw new StatusError(
        'MethodNotAllowed',
        `the server does not allow ${method} on the requested resource`,
      );
  }

  // --- collections ---------------------------------------------------------------------------------------------------------------

  #collection(method: string): void {
    const { namespace } = this.#route;
    if (method === 'GET' && /^(true|1)$/.test(this.#query.get('watch') ?? '')) this.#watch();
    else if (method === 'GET') this.#list();
    else if (method === 'POST') this.#create(namespace ?? '');
    else if (method === 'DELETE') this.#deleteCollection(namespace);
    else
      throw new StatusError(
        'MethodNotAllowed',
        `the server does not allow ${method} on the requested resource`,
      );
  }

  #create(namespace: string): void {
    this.#answer(this.#api.create(this.#kind, namespace, this.#bodyObject(), this.#writeOptions()), 201);
  }

  #deleteCollection(namespace: string | undefined): void {
    const gone = this.#api.list(this.#kind, namespace).filter(this.#selector());
    for (const object of gone) {
      const { namespace: space, name } = metadataOf(object);
      this.#api.delete(this.#kind, String(space ?? ''), String(name), this.#deleteOptions());
    }
    this.#answer(this.#listOf(gone, `${this.#api.store.version}`, undefined, undefined));
  }

  #list(): void {
    const page = listPage(this.#api, this.#kind, {
      namespace: this.#route.namespace,
      matches: this.#selector(),
      limit: Number(this.#query.get('limit') ?? 0),
      continueToken: this.#query.get('continue') ?? undefined,
    });
    this.#answer(this.#listOf(page.items, page.resourceVersion, page.next, page.remaining));
  }

  #listOf(
    items: readonly JsonObject[],
    resourceVersion: string,
    next: string | undefined,
    remaining: number | undefined,
  ): JsonObject {
    const metadata: JsonObject = {
      resourceVersion,
      ...(next ? { continue: next } : {}),
      ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
    };
    if (this.#wantsTable()) return toTable(this.#kind, items, metadata, this.#now());
    return {
      kind: `${this.#kind.kind}List`,
      apiVersion: apiVersionOf(this.#kind),
      metadata,
      items: items.map((item) => this.#outward(item)),
    };
  }

  #watch(): void {
    const matches = this.#selector();
    const since = this.#query.get('resourceVersion') ?? '';
    const seconds = Number(this.#query.get('timeoutSeconds') ?? WATCH_SECONDS);
    const present = (object: JsonObject) => object;
    this.#response.writeHead(200, { 'content-type': 'application/json' });
    const write = (type: string, object: JsonObject) => {
      const shown =
        this.#wantsTable() && type !== 'ERROR'
          ? toTable(
              this.#kind,
              [object],
              { resourceVersion: textAt(object, 'metadata', 'resourceVersion') ?? '' },
              this.#now(),
            )
          : object;
      this.#response.write(`${JSON.stringify({ type, object: shown })}\n`);
    };
    try {
      // without a version, or with 0, a watch begins with what is there
      if (since === '' || since === '0') {
        for (const object of this.#api.list(this.#kind, this.#route.namespace).filter(matches))
          write('ADDED', this.#outward(object));
      } else {
        for (const change of this.#api.store.since(Number(since)))
          this.#tell(change, matches, present, write);
      }
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      write('ERROR', error.toJson());
      this.#response.end();
      return;
    }
    const stop = this.#api.onChange((change) => this.#tell(change, matches, present, write));
    const timer = setTimeout(() => {
      if (this.#query.get('allowWatchBookmarks') === 'true') write('BOOKMARK', this.#bookmark());
      this.#response.end();
    }, seconds * 1_000);
    timer.unref();
    this.#response.on('close', () => {
      stop();
      clearTimeout(timer);
    });
  }

  #tell(
    change: Parameters<typeof seenAs>[0],
    matches: Selector,
    present: (object: JsonObject) => JsonObject,
    write: (type: string, object: JsonObject) => void,
  ): void {
    const own = `${this.#kind.plural}.${this.#kind.kind === 'Event' ? '' : this.#kind.group}`;
    if (change.stored.resource !== own) return;
    const event = seenAs(change, this.#route.namespace, matches, present);
    if (event) write(event.type, this.#outward(event.object));
  }

  #bookmark(): JsonObject {
    return {
      kind: this.#kind.kind,
      apiVersion: apiVersionOf(this.#kind),
      metadata: { resourceVersion: `${this.#api.store.version}`, creationTimestamp: null },
    };
  }

  // --- single objects --------------------------------------------------------------------------------------------------------------

  #get(name: string): void {
    const live = this.#live(name);
    this.#answer(this.#route.subresource === 'scale' ? toScale(this.#kind, live) : live);
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
    const type = MEDIA[media];
    if (!type || (type === 'strategic' && this.#kind.schema)) {
      throw new StatusError(
        'UnsupportedMediaType',
        `the body of the request was in an unknown format - accepted media types include: ${Object.keys(MEDIA).join(', ')}`,
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
    const live = this.#live(name);
    const wanted = textAt(scale, 'metadata', 'resourceVersion');
    const next = withScale(this.#kind, live, scale);
    if (!wanted) delete metadataOf(next).resourceVersion;
    const { subresource, ...options } = this.#writeOptions();
    this.#answer(
      toScale(this.#kind, this.#api.update(this.#kind, this.#route.namespace ?? '', name, next, options)),
    );
  }

  #delete(name: string): void {
    const left = this.#api.delete(this.#kind, this.#route.namespace ?? '', name, this.#deleteOptions());
    this.#answer(
      left ?? {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name, kind: this.#kind.plural, group: this.#kind.group },
      },
    );
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

  #selector(): Selector {
    const labels = labelSelector(this.#query.get('labelSelector') ?? undefined);
    const fields = fieldSelector(this.#query.get('fieldSelector') ?? undefined);
    const name = this.#route.name;
    return (object) =>
      labels(object) && fields(object) && (name === undefined || metadataOf(object).name === name);
  }

  #writeOptions() {
    const strict = this.#query.get('fieldValidation') === 'Strict';
    // like the real one: apply has to name its manager, for the rest the client's name will do
    const applies = this.#request.headers['content-type']?.startsWith('application/apply-patch');
    const agent = applies ? undefined : this.#request.headers['user-agent']?.split('/')[0];
    const manager = this.#query.get('fieldManager') ?? agent;
    return {
      ...(manager ? { manager } : {}),
      dryRun: this.#query.get('dryRun') === 'All',
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
      dryRun: this.#query.get('dryRun') === 'All',
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

  /** managedFields are kept beside the objects and put in on the way out. */
  #outward(object: JsonObject): JsonObject {
    const { namespace, name } = metadataOf(object);
    const found = this.#api.find(this.#kind, String(namespace ?? ''), String(name));
    if (!found) return object;
    const managers = this.#api.managersOf(this.#kind, String(namespace ?? ''), String(name));
    return { ...object, metadata: { ...metadataOf(object), managedFields: toManagedFields(managers) } };
  }

  #wantsTable(): boolean {
    return (this.#request.headers.accept ?? '').includes('as=Table');
  }

  #answer(object: JsonObject, status = 200): void {
    const single = this.#route.name !== undefined || status === 201;
    const isStatus = object.kind === 'Status' || object.kind === 'Scale' || object.kind === 'Table';
    const body =
      !single || isStatus
        ? object
        : this.#wantsTable()
          ? toTable(
              this.#kind,
              [object],
              { resourceVersion: textAt(object, 'metadata', 'resourceVersion') ?? '' },
              this.#now(),
            )
          : this.#outward(object);
    const warnings = this.#warnings.map((text) => `299 - ${JSON.stringify(text)}`);
    send(this.#response, status, body, warnings.length > 0 ? { warning: warnings } : {});
  }

  #now(): Date {
    return this.#options.clock?.() ?? new Date();
  }
}
