/** The function as a server: listens, serves, and on the way out finishes what it has begun. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { createApp } from './app.ts';
import { logged, type Reconcile } from './pass-log.ts';
import { Queue } from './queue.ts';

export interface ServerOptions {
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
  readonly lookAgainAfter: number;
  readonly mostLooks: number;
}

export interface RunningServer {
  readonly port: number;
  /** Takes no more events, finishes the running passes within the drain deadline; true when all ended in time. */
  close(): Promise<boolean>;
}

/** Rejects when the port cannot be had. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { log, port, host, drainDeadline } = options;
  const queue = new Queue({ ...options, run: logged(options.reconcile, log, options.passDeadline) });
  const server = createServer(createApp({ queue, log, replyBudget: options.replyBudget }));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host ? { host } : {}) }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      server.closeIdleConnections();
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<boolean>((resolve) => {
        timer = setTimeout(resolve, drainDeadline, false);
      });
      const drained = await Promise.race([queue.drain().then(() => true), late]);
      clearTimeout(timer);
      server.closeAllConnections();
      return drained;
    },
  };
}
