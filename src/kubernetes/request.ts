/** One JSON request to the API server over a kept connection, and the one place where an answer becomes an error. */
import * as http from 'node:http';
import * as https from 'node:https';
import { type Failure, Permanent, Retryable } from '../errors.ts';
import type { Credentials } from './credentials.ts';

export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly contentType?: string;
}

/** Sends one request and gives the parsed body; throws Retryable or Permanent. */
export type Send = (request: Request, signal: AbortSignal) => Promise<unknown>;

/** More than enough for a pass (7 side by side) of several clusters; the API server's fairness does the rest. */
const MOST_SOCKETS = 32;

export function sender({ server, options }: Credentials): Send {
  const tls = server.protocol === 'https:';
  const agent = new (tls ? https : http).Agent({ keepAlive: true, maxSockets: MOST_SOCKETS });
  const start = tls ? https.request : http.request;
  return async ({ method, path, query, body, contentType }, signal) => {
    const search = query ? `?${new URLSearchParams(query)}` : '';
    const { headers, ...rest } = await options();
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const { status, text } = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const request = start(
        {
          ...rest,
          agent,
          signal,
          method,
          host: server.hostname.replace(/^\[|\]$/g, ''),
          port: server.port || (tls ? 443 : 80),
          path: `${server.pathname.replace(/\/$/, '')}${path}${search}`,
          headers: {
            ...headers,
            accept: 'application/json',
            'user-agent': 'mysql-operator',
            ...(payload
              ? { 'content-type': contentType ?? 'application/json', 'content-length': payload.length }
              : {}),
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
          );
          response.on('error', reject);
        },
      );
      request.on('error', reject);
      request.end(payload);
    }).catch((cause: Error) => {
      throw new Retryable(
        `${method} ${path}: ${cause.name === 'AbortError' ? 'deadline exceeded' : cause.message}`,
        {
          cause,
        },
      );
    });
    if (status >= 200 && status < 300) return JSON.parse(text);
    throw toFailure(`${method} ${path}`, status, text);
  };
}

/** Statuses after which the same request may succeed. Everything else, and a field that the schema does not know, is refused for good. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 409, 410, 425, 429]);

export function toFailure(what: string, status: number, body: string): Failure {
  const message = `${what}: ${status} ${messageOf(body)}`;
  // measured: server-side apply answers 500, not 422, to a field that is not in the schema
  const unknownField = status === 500 && body.includes('field not declared in schema');
  return RETRYABLE.has(status) || (status >= 500 && !unknownField)
    ? new Retryable(message, { code: status })
    : new Permanent(message, { code: status });
}

function messageOf(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed === 'object' && parsed && 'message' in parsed) return String(parsed.message);
  } catch {
    // a proxy in between may answer in its own words
  }
  return body.slice(0, 500);
}
