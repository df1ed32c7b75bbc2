/** The embedded API over HTTP on loopback: for kubectl, for the function's client, and for anybody with a kubeconfig. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { send } from './answer.ts';
import type { Api } from './api.ts';
import { coreVersions, group, groupList, resourceList, version } from './discovery.ts';
import { Exchange, type ExchangeOptions } from './exchange.ts';
import { Inquiry } from './inquiry.ts';
import type { JsonObject } from './json.ts';
import { document, index } from './openapi.ts';
import { parseRoute } from './route.ts';
import { StatusError } from './status-error.ts';

export interface ServerOptions extends ExchangeOptions {
  readonly port?: number;
  /** Sees every request before it is served; an answer of its own replaces the API's. For counting, and for tests of failures. */
  readonly intercept?: (request: {
    readonly method: string;
    readonly path: string;
  }) => Promise<Interception | undefined> | Interception | undefined;
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
  const asked = new Inquiry(kind, url.searchParams, request.headers, body);
  new Exchange(api, options, kind, route, asked, response).serve(method);
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

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
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
