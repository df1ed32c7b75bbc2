/** One short-lived TLS connection to one member, and what it takes to speak to it. */
import type { Connection } from 'mysql2/promise';
import { Retryable } from '../errors.ts';
import { type Dialect, dialectFor } from './dialect.ts';

export interface Session {
  readonly server: Connection;
  /** `SELECT @@version`. */
  readonly version: string;
  readonly dialect: Dialect;
  /** server_uuid. */
  readonly uuid: string;
}

export interface Target {
  /** Pod name, for messages. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** Milliseconds for the connection alone. */
  readonly connectTimeout: number;
}

/**
 * Connects, works, and always disconnects. When `timeLimit` (milliseconds) or `signal` ends first, it is Retryable; what was said to
 * the server by then goes on there.
 */
export async function inSession<T>(
  { name, ...target }: Target,
  timeLimit: number,
  signal: AbortSignal | undefined,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  // loaded on demand, before the clock runs: a pass without members does not need it, and a cold start is short of every millisecond
  const { createConnection } = await import('mysql2/promise');
  const limits = AbortSignal.any([AbortSignal.timeout(timeLimit), ...(signal ? [signal] : [])]);
  const late = () => new Retryable(`${name}: no answer in time`);
  if (limits.aborted) throw late();
  const ended = Promise.withResolvers<never>();
  const end = () => ended.reject(late());
  limits.addEventListener('abort', end, { once: true });
  const connecting = createConnection({
    ...target,
    multipleStatements: false,
    // MySQL makes its own certificate and names no host in it: it encrypts, it cannot prove who answers
    ssl: { rejectUnauthorized: false, minVersion: 'TLSv1.2' },
  });
  let server: Connection | undefined;
  try {
    server = await Promise.race([connecting, ended.promise]);
    server.on('error', () => undefined);
    return await Promise.race([begin(server).then(work), ended.promise]);
  } finally {
    limits.removeEventListener('abort', end);
    if (server) server.destroy();
    else connecting.then((tooLate) => tooLate.destroy()).catch(() => undefined);
  }
}

async function begin(server: Connection): Promise<Session> {
  const [self] = await rows(server, 'SELECT @@version AS version, @@server_uuid AS uuid');
  const version = String(self?.version ?? '');
  return { server, version, dialect: dialectFor(version), uuid: String(self?.uuid ?? '') };
}

export type Row = Readonly<Record<string, unknown>>;

/** What a SELECT answers. */
export async function rows(server: Connection, sql: string): Promise<Row[]> {
  const [result] = await server.query(sql);
  return Array.isArray(result) ? (result as Row[]) : [];
}
