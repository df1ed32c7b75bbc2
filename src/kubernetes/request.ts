/**
 * One JSON request to the API server over a kept-alive connection. The official client opens a new TLS connection for each request
 * (measured), loses fields that its models do not know, and has no server-side apply for the status.
 */
import * as http from 'node:http';
import * as https from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
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

interface Answer {
  readonly status: number;
  /** Seconds that the server asks to wait; NaN when it does not. */
  readonly retryAfter: number;
  readonly text: string;
}

/** More than enough for a pass (7 side by side) of several clusters; the API server's fairness does the rest. */
const MOST_SOCKETS = 32;

export function sender(credentials: Credentials): Send {
  const { server } = credentials;
  const agent = new (server.protocol === 'https:' ? https : http).Agent({
    keepAlive: true,
    maxSockets: MOST_SOCKETS,
  });
  return async (request, signal) => {
    const what = `${request.method} ${request.path}`;
    try {
      let answer = await exchange(request, credentials, agent, signal);
      if (answer.status === 429 && answer.retryAfter >= 0) {
        // not taken at all, so it may be sent again whatever it was; once, within the deadline
        await pause(answer.retryAfter * 1_000, undefined, { signal });
        answer = await exchange(request, credentials, agent, signal);
      }
      if (answer.status < 200 || answer.status >= 300) throw toFailure(what, answer.status, answer.text);
      return JSON.parse(answer.text);
    } catch (cause) {
      if (cause instanceof Permanent || cause instanceof Retryable) throw cause;
      const why = signal.aborted
        ? 'deadline exceeded'
        : cause instanceof Error
          ? cause.message
          : String(cause);
      throw new Retryable(`${what}: ${why}`, { cause });
    }
  };
}

/** A connection that the server closes just as we use it again tells nothing about the server: one more try on another. */
async function exchange(
  request: Request,
  credentials: Credentials,
  agent: http.Agent,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    return await once(request, credentials, agent, signal);
  } catch (error) {
    if (!(error instanceof StaleConnection)) throw error;
    return once(request, credentials, agent, signal);
  }
}

class StaleConnection extends Error {}

async function once(
  { method, path, query, body, contentType = 'application/json' }: Request,
  { server, options }: Credentials,
  agent: http.Agent,
  signal: AbortSignal,
): Promise<Answer> {
  const tls = server.protocol === 'https:';
  const { headers, ...rest } = await options();
  const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  return new Promise<Answer>((resolve, reject) => {
    const request = (tls ? https : http).request(
      {
        agent,
        ...rest,
        signal,
        method,
        host: server.hostname.replace(/^\[|\]$/g, ''),
        port: server.port || (tls ? 443 : 80),
        path: `${server.pathname.replace(/\/$/, '')}${path}${query ? `?${new URLSearchParams(query)}` : ''}`,
        headers: {
          ...headers,
          accept: 'application/json',
          'user-agent': 'mysql-operator',
          ...(payload ? { 'content-type': contentType, 'content-length': payload.length } : {}),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            retryAfter: Number(response.headers['retry-after'] ?? Number.NaN),
            text: Buffer.concat(chunks).toString(),
          }),
        );
        response.on('error', reject);
      },
    );
    request.on('error', (error: NodeJS.ErrnoException) => {
      const stale = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      reject(stale ? new StaleConnection(error.message, { cause: error }) : error);
    });
    request.end(payload);
  });
}

/** Statuses after which the same request may succeed; 401 too: the token is read again, and an API server that just started may not know it yet. */
const RETRYABLE: ReadonlySet<number> = new Set([401, 408, 409, 410, 425, 429]);

/** Everything else is refused for good, and so is a field that the schema does not know. */
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
