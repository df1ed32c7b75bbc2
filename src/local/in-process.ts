/**
 * HTTP without a socket: a request goes through the very listener that a server would call, and comes back as what would have been on
 * the wire. Thousands of short runs in one process are made of these.
 */
import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';
import { type Send, toFailure } from '../kubernetes/request.ts';

export interface InProcessRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** Names in lower case, as node:http gives them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface InProcessAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly text: string;
}

/** Stands where the connection would: it keeps what is written to it. Only one answer goes through it, so no framing is needed. */
class Wire extends Duplex {
  readonly chunks: Buffer[] = [];

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.chunks.push(chunk);
    done();
  }
}

/** Rejects when the listener closes the connection without an answer. */
export function exchange(
  listener: RequestListener,
  { method, url, headers, body }: InProcessRequest,
): Promise<InProcessAnswer> {
  const wire = new Wire();
  // node:http asks no more of its socket than a Duplex can give
  const request = new IncomingMessage(wire as never);
  const payload = Buffer.from(body ?? '');
  const sent = payload.length > 0 ? { ...headers, 'content-length': `${payload.length}` } : headers;
  Object.assign(request, { method, url, headers: sent, httpVersionMajor: 1, httpVersionMinor: 1 });
  if (payload.length > 0) request.push(payload);
  request.push(null);
  request.complete = true;
  const response = new ServerResponse(request);
  response.assignSocket(wire as never);
  return new Promise((resolve, reject) => {
    response.on('finish', () => {
      const sent = Buffer.concat(wire.chunks).toString();
      resolve({
        status: response.statusCode,
        headers: response.getHeaders(),
        text: sent.slice(sent.indexOf('\r\n\r\n') + 4),
      });
    });
    wire.on('close', () => reject(new Error('socket hang up')));
    listener(request, response);
  });
}

/** The API server's client (src/kubernetes/request.ts) with the network left out: the same paths, bodies and failures. */
export const sendTo =
  (listener: RequestListener): Send =>
  async ({ method, path, query, body, contentType = 'application/json' }) => {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const { status, text } = await exchange(listener, {
      method,
      url: `${path}${query ? `?${new URLSearchParams(query)}` : ''}`,
      headers: {
        accept: 'application/json',
        'user-agent': 'mysql-operator',
        ...(payload === undefined ? {} : { 'content-type': contentType }),
      },
      body: payload,
    });
    if (status < 200 || status >= 300) throw toFailure(`${method} ${path}`, status, text);
    return JSON.parse(text);
  };
