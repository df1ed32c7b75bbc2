/** The function as a server: listens, serves, and on the way out finishes what it has begun. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { Permanent } from '../errors.ts';
import { createApp } from './app.ts';
import { logged, type Reconcile } from './pass-log.ts';
import type { Patience } from './patience.ts';
import { Queue } from './queue.ts';
import type { Later } from './timer.ts';

export interface ServerOptions extends Patience {
  readonly reconcile: Reconcile;
  readonly log: Logger;
  /** TCP port; 0 lets the kernel choose. */
  readonly port: number;
  /** Undefined: all interfaces, as a container needs. */
  readonly host?: string;
  /** Milliseconds, all three. */
  readonly replyBudget: number;
  readonly passDeadline: number;
  readonly drainDeadline: number;
  readonly concurrency: number;
  readonly later?: Later;
}

export interface RunningServer {
  readonly port: number;
  /** Takes no more events, finishes the running passes within the drain deadline; true when all ended in time. */
  close(): Promise<boolean>;
}

/** Longer than the 90 s of Knative's proxies: who closes an idle connection first never loses a request that is just being sent on it. */
const KEEP_ALIVE_MS = 120_000;

/** Throws Permanent when the port cannot be had. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { log, port, host } = options;
  const queue = new Queue({ ...options, run: logged(options.reconcile, log, options.passDeadline) });
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS });
  const unanswered = new Set<ServerResponse>();
  let closing = false;
  server.on('request', (_request, response: ServerResponse) => {
    unanswered.add(response);
    response.once('close', () => unanswered.delete(response));
    if (closing) response.setHeader('Connection', 'close');
  });
  server.on('request', createApp({ ...options, queue }));
  // what is no HTTP, or has too many headers: Node's own answers (431, 408) are not in the contract
  server.on('clientError', (_error, socket) => {
    if (socket.writable)
      socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    else socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      reject(new Permanent(`PORT ${port} cannot be listened on: ${cause.message}`, { cause }));
    });
    server.listen({ port, ...(host ? { host } : {}) }, resolve);
  });

  const close = async (): Promise<boolean> => {
    closing = true;
    const answered = new Promise<void>((resolve) => server.close(() => resolve()));
    // a connection that is kept alive would keep the server open
    for (const response of unanswered) if (!response.headersSent) response.setHeader('Connection', 'close');
    const drained = await inTime(Promise.all([queue.drain(), answered]), options.drainDeadline);
    server.closeAllConnections();
    return drained;
  };
  return { port: (server.address() as AddressInfo).port, close };
}

async function inTime(work: Promise<unknown>, deadline: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, deadline, false);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
