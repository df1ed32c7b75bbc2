/** The function's own HTTP server around a reconcile that a test gives, and requests to it as they are on the wire. */
import { request } from 'node:http';
import { createLog } from '../../src/log.ts';
import type { Pass } from '../../src/pass.ts';
import type { Reconcile } from '../../src/server/pass-log.ts';
import { type ServerOptions, startServer } from '../../src/server/start.ts';

export const settled: Pass = {
  state: 'Healthy',
  message: '',
  uid: 'u',
  writes: 0,
  again: false,
  failure: undefined,
};

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export const nudge = (subject: string, headers: Record<string, string> = {}): Sent => ({
  headers: {
    'ce-specversion': '1.0',
    'ce-id': '1',
    'ce-source': 'me',
    'ce-type': 'com.example.mysql.nudge',
    'ce-subject': subject,
    ...headers,
  },
});

/** Sends one request on a connection of its own; rejects when there is no answer. */
export function send(
  port: number,
  { method = 'POST', path = '/', headers = {}, body }: Sent,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, method, path, headers, agent: false },
      async (response) => {
        const text = (await response.toArray()).join('');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

export interface TestServer extends AsyncDisposable {
  readonly port: number;
  readonly post: (sent: Sent) => Promise<Answer>;
  readonly close: () => Promise<boolean>;
  /** What it logged, one object a line. */
  readonly log: Record<string, unknown>[];
}

export async function aServer(
  reconcile: Reconcile,
  options: Partial<ServerOptions> = {},
): Promise<TestServer> {
  const log: Record<string, unknown>[] = [];
  const server = await startServer({
    log: createLog('info', { write: (line) => void log.push(JSON.parse(line)) }),
    port: 0,
    host: '127.0.0.1',
    replyBudget: 2_000,
    passDeadline: 20_000,
    drainDeadline: 5_000,
    concurrency: 16,
    lookAgainAfter: 500,
    mostLooks: 240,
    ...options,
    reconcile,
  });
  return {
    port: server.port,
    post: (sent) => send(server.port, sent),
    close: () => server.close(),
    log,
    [Symbol.asyncDispose]: async () => void (await server.close()),
  };
}
