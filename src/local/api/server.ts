/** The embedded API over HTTP on loopback: for kubectl, for the function's client, and for anybody with a kubeconfig. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse as parseYaml } from 'yaml';
import { type Api, type DeleteOptions, metadataOf, type PatchType } from './api.ts';
import { coreVersions, group, groupList, resourceList, version } from './discovery.ts';
import { isObject, type Json, type JsonObject, textAt } from './json.ts';
import { apiVersionOf, type Kind } from './kinds.ts';
import { toManagedFields } from './managers.ts';
import { document, index } from './openapi.ts';
import { parseRoute, type Route } from './route.ts';
import { toScale, withScale } from './scale.ts';
import { fieldSelector, labelSelector, type Selector } from './selectors.ts';
import { StatusError } from './status-error.ts';
import { toTable } from './table.ts';
import { listPage, seenAs } from './watch.ts';

export interface ServerOptions {
  readonly port?: number;
  readonly clock?: () => Date;
  /** Sees every request before it is served; an answer of its own replaces the API's. For counting, and for tests of failures. */
  readonly intercept?: (request: {
    readonly method: string;
    readonly path: string;
  }) => Promise<Interception | undefined> | Interception | undefined;
  /** Text of a pod's log. */
  readonly logOf?: (namespace: string, pod: string) => string;
}

/** `drop` closes the connection without an answer. */
export type Interception =
  | { readonly status: number; readonly body?: JsonObject; readonly headers?: Record<string, string> }
  | 'drop';

export interface ApiServer {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const MEDIA: Readonly<Record<string, PatchType>> = {
  'application/apply-patch+yaml': 'apply',
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
};

/** kubectl and controllers reconnect to watches by themselves; so that this is seen here too, none lasts for ever. */
const WATCH_SECONDS = 1_800;

export async function serveApi(api: Api, options: ServerOptions = {}): Promise<ApiServer> {
  const server = createServer(handlerFor(api, options));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}`, close: () => closeAll(server) };
}

/** The API as a request listener, for a server of one's own (TLS). */
export const handlerFor =
  (api: Api, options: ServerOptions = {}): RequestListener =>
  (request, response) => {
    serve(api, options, request, response).catch((error: unknown) => sendError(response, error));
  };

/** For kubectl and every client that reads kubeconfigs. */
export const kubeconfigFor = (url: string): string => `apiVersion: v1
kind: Config
clusters:
- name: embedded
  cluster:
    server: ${url}
contexts:
- name: embedded
  context:
    cluster: embedded
    namespace: default
    user: embedded
current-context: embedded
users:
- name: embedded
  user: {}
`;

const closeAll = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

async function serve(
  api: Api,
  options: ServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://embedded');
  const method = request.method ?? 'GET';
  const interception = await options.intercept?.({ method, path: url.pathname });
  if (interception === 'drop') {
    request.socket.destroy();
    return;
  }
  if (interception) {
    send(response, interception.status, interception.body ?? {}, interception.headers);
    return;
  }
  const body = await readBody(request);
  const general = method === 'GET' ? generalAnswer(api, url) : undefined;
  if (general !== undefined) {
    if (typeof general === 'string') response.writeHead(200, { 'content-type': 'text/plain' }).end(general);
    else send(response, 200, general);
    return;
  }
  const route = parseRoute(url.pathname);
  if (!route) throw new StatusError('NotFound', 'the server could not find the requested resource');
  const kind = api.kind(route.group, route.version, route.plural);
  new Exchange(api, options, kind, route, url.searchParams, request, response, body).serve(method);
}

function generalAnswer(api: Api, { pathname }: URL): JsonObject | string | undefined {
  const path = pathname.replace(/\/$/, '');
  const kinds = api.kinds();
  if (path === '/healthz' || path === '/readyz' || path === '/livez') return 'ok';
  if (path === '/version') return version();
  if (path === '/api') return coreVersions();
  if (path === '/apis') return groupList(kinds);
  if (path === '/api/v1') return resourceList(kinds, 'v1');
  if (path === '/openapi/v3') return index(kinds);
  if (path.startsWith('/openapi/v3/')) return document(kinds, path.slice('/openapi/v3/'.length));
  const [, root, first, second, ...rest] = path.split('/');
  if (root !== 'apis' || first === undefined || rest.length > 0) return undefined;
  return second === undefined ? group(kinds, first) : resourceList(kinds, `${first}/${second}`);
}

/** One request to one resource. */
class Exchange {
  readonly #api: Api;
  readonly #options: ServerOptions;
  readonly #kind: Kind;
  readonly #route: Route;
  readonly #query: URLSearchParams;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #body: string;
  readonly #warnings: string[] = [];

  constructor(
    api: Api,
    options: ServerOptions,
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

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function send(
  response: ServerResponse,
  status: number,
  body: JsonObject,
  headers: Record<string, string | string[]> = {},
): void {
  const text = `${JSON.stringify(body)}\n`;
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...headers,
    })
    .end(text);
}

function sendError(response: ServerResponse, error: unknown): void {
  const status =
    error instanceof StatusError
      ? error
      : new StatusError(
          'InternalError',
          `Internal error occurred: ${error instanceof Error ? error.message : String(error)}`,
        );
  if (response.headersSent) response.destroy();
  else send(response, status.code, status.toJson());
}
