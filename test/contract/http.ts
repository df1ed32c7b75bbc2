/** Plain HTTP to an endpoint of endpoint.ts: what is on the wire, status codes and watch streams included. */
import * as http from 'node:http';
import * as https from 'node:https';
import { createInterface } from 'node:readline';
import { kubeconfigCredentials } from '../../src/kubernetes/credentials.ts';

// biome-ignore lint/suspicious/noExplicitAny: objects of any kind, looked into by assertions only
type Anything = any;

export interface Reply {
  readonly status: number;
  readonly body: Anything;
  readonly warnings: readonly string[];
}

export interface RawRequest {
  readonly query?: Record<string, string>;
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
}

export interface Wire {
  call(method: string, path: string, request?: RawRequest): Promise<Reply>;
  /** Watch events as they come; ends when the server ends it or the consumer returns. */
  watch(path: string, query: Record<string, string>): AsyncGenerator<{ type: string; object: Anything }>;
}

const DEADLINE = 20_000;

export async function wireTo(kubeconfig: string): Promise<Wire> {
  const { server, options } = await kubeconfigCredentials(kubeconfig);
  const client = server.protocol === 'https:' ? https : http;

  async function open(
    method: string,
    path: string,
    { query, body, type, accept }: RawRequest,
  ): Promise<http.IncomingMessage> {
    const { headers, ...rest } = await options();
    const payload = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = client.request(
        {
          ...rest,
          method,
          host: server.hostname,
          port: server.port,
          path: `${path}${query ? `?${new URLSearchParams(query)}` : ''}`,
          timeout: DEADLINE,
          headers: {
            ...headers,
            accept: accept ?? 'application/json',
            ...(payload === undefined
              ? {}
              : { 'content-type': type ?? 'application/json', 'content-length': Buffer.byteLength(payload) }),
          },
        },
        resolve,
      );
      request.on('error', reject);
      request.on('timeout', () =>
        request.destroy(new Error(`${method} ${path}: no answer in ${DEADLINE} ms`)),
      );
      request.end(payload);
    });
  }

  return {
    async call(method, path, request = {}) {
      const response = await open(method, path, request);
      const text = (await response.toArray()).join('');
      const warnings = [response.headers.warning ?? []].flat() as string[];
      return { status: response.statusCode ?? 0, body: parsed(text), warnings };
    },
    async *watch(path, query) {
      const response = await open('GET', path, { query: { watch: 'true', ...query } });
      if (response.statusCode !== 200) {
        yield { type: 'ERROR', object: JSON.parse((await response.toArray()).join('')) };
        return;
      }
      try {
        for await (const line of createInterface({ input: response })) yield JSON.parse(line);
      } finally {
        response.destroy();
      }
    },
  };
}

/** Addresses that no API serves are answered in plain text. */
const parsed = (text: string): Anything => (text.startsWith('{') ? JSON.parse(text) : text);
