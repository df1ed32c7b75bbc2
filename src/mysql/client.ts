/** The adapter of the `Members` port on mysql2: one short-lived TLS connection a member a pass. */
import type { Connection } from 'mysql2/promise';
import { Permanent, Retryable } from '../errors.ts';
import { SQL_PORT } from '../resource/names.ts';
import { type Dialect, dialectFor } from './dialect.ts';
import type {
  Access,
  Member,
  MemberAnswer,
  MemberReport,
  MemberRole,
  MemberState,
  Members,
  Peer,
} from './members.ts';

export interface MysqlMembersOptions {
  /** TCP port of a member's SQL; tests on one host give each its own. */
  readonly portOf?: (member: Member) => number;
  /** Milliseconds for connecting and for each report. */
  readonly deadline?: number;
  /** Milliseconds that a pass waits for a long statement; after that it goes on by itself and the next report tells. */
  readonly patience?: number;
}

const DEADLINE = 1_000;
const PATIENCE = 1_500;
/** Milliseconds after which a statement that was left to itself is given up. A wrong join blocks for about a minute. */
const LONGEST = 180_000;

export class MysqlMembers implements Members {
  readonly #portOf: (member: Member) => number;
  readonly #deadline: number;
  readonly #patience: number;
  /** Statements that go on after the pass that gave them, by member address: not to be given twice. */
  readonly #underWay = new Map<string, Promise<void>>();

  constructor({
    portOf = () => SQL_PORT,
    deadline = DEADLINE,
    patience = PATIENCE,
  }: MysqlMembersOptions = {}) {
    this.#portOf = portOf;
    this.#deadline = deadline;
    this.#patience = patience;
  }

  report(members: readonly Member[], access: Access, signal: AbortSignal): Promise<MemberReport[]> {
    return Promise.all(
      members.map((member) =>
        this.#ask(member, access, signal).catch(
          (error: Error): MemberReport => ({ answered: false, name: member.name, why: whySilent(error) }),
        ),
      ),
    );
  }

  async bootstrap(member: Member, access: Access, expected: string, signal: AbortSignal): Promise<void> {
    await this.#longStatement(member, access, signal, async (server, dialect) => {
      const [row] = await rows(server, 'SELECT @@global.gtid_executed AS executed');
      const executed = compact(row?.executed);
      if (executed !== expected) {
        throw new Retryable(
          `${member.name} has ${executed || 'nothing'} by now, not ${expected || 'nothing'}: not starting the group`,
        );
      }
      await prepare(server, dialect, access, this.#addresses([member], dialect));
      await server.query('SET GLOBAL group_replication_bootstrap_group = ON');
      try {
        await server.query('START GROUP_REPLICATION');
      } finally {
        // left ON, the next start of this member would be a second group
        await server.query('SET GLOBAL group_replication_bootstrap_group = OFF');
      }
    });
  }

  async join(member: Member, access: Access, seeds: readonly Member[], signal: AbortSignal): Promise<void> {
    await this.#longStatement(member, access, signal, async (server, dialect) => {
      await prepare(server, dialect, access, this.#addresses(seeds, dialect));
      if (dialect.cloneWhenNeeded) await server.query(dialect.cloneWhenNeeded);
      await server.query('START GROUP_REPLICATION');
    });
  }

  async rebuild(member: Member, access: Access, donor: Member, signal: AbortSignal): Promise<void> {
    await this.#longStatement(member, access, signal, async (server, dialect) => {
      if (!dialect.clone) {
        throw new Permanent(
          `${member.name}: MySQL ${dialect.versions} has no clone: delete its volume claim and its pod instead`,
        );
      }
      const { user, password } = access.replication;
      const port = this.#portOf(donor);
      await server.query('STOP GROUP_REPLICATION');
      await server.query(`SET GLOBAL clone_valid_donor_list = ${server.escape(`${donor.host}:${port}`)}`);
      await server.query('SET GLOBAL super_read_only = OFF');
      await server.query(
        `CLONE INSTANCE FROM ${server.escape(user)}@${server.escape(donor.host)}:${port} IDENTIFIED BY ${server.escape(password)} REQUIRE SSL`,
      );
    });
  }

  async leave(member: Member, access: Access, signal: AbortSignal): Promise<void> {
    await this.#longStatement(member, access, signal, async (server) => {
      await server.query('STOP GROUP_REPLICATION');
    });
  }

  async setPrimary(via: Member, access: Access, target: string, signal: AbortSignal): Promise<void> {
    await this.#longStatement(via, access, signal, async (server, dialect) => {
      if (!dialect.setPrimary) {
        throw new Permanent(
          `MySQL ${dialect.versions} cannot switch its primary by an order: restart the primary instead`,
        );
      }
      await server.query(dialect.setPrimary(server.escape(target)));
    });
  }

  /** Resolves when every statement that was left to itself has ended. */
  async drain(): Promise<void> {
    await Promise.allSettled(this.#underWay.values());
  }

  /** group_replication_group_seeds; host names, so IPv6 needs no brackets here. */
  #addresses(seeds: readonly Member[], { groupPort }: Dialect): string {
    return seeds
      .map((seed) => `${seed.host}:${groupPort === SQL_PORT ? this.#portOf(seed) : groupPort}`)
      .join(',');
  }

  async #ask(member: Member, access: Access, signal: AbortSignal): Promise<MemberAnswer> {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(this.#deadline)]);
    return this.#connected(member, access, deadline, (server) => readAnswer(member.name, server));
  }

  /**
   * Gives a statement that may take long. It is waited for as long as patience goes; then it continues on its own connection while
   * this process lives. A member that is still at one gets no second one.
   */
  async #longStatement(
    member: Member,
    access: Access,
    signal: AbortSignal,
    work: (server: Connection, dialect: Dialect) => Promise<void>,
  ): Promise<void> {
    signal.throwIfAborted();
    const key = `${member.address}:${this.#portOf(member)}`;
    if (this.#underWay.has(key)) return;
    const done = this.#connected(member, access, AbortSignal.timeout(LONGEST), async (server) => {
      const [row] = await rows(server, 'SELECT @@version AS version');
      await work(server, dialectFor(String(row?.version ?? '')));
    }).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, done);
    // what fails after nobody waits any more is seen in the next report
    done.catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#patience);
    });
    try {
      await Promise.race([done, patience]);
    } catch (error) {
      throw toFailure(member, error);
    } finally {
      clearTimeout(timer);
    }
  }

  async #connected<T>(
    member: Member,
    { operator }: Access,
    signal: AbortSignal,
    work: (server: Connection) => Promise<T>,
  ): Promise<T> {
    // loaded on demand: a pass without members does not need it, and a cold start is short of every millisecond
    const { createConnection } = await import('mysql2/promise');
    const connecting = createConnection({
      host: member.address,
      port: this.#portOf(member),
      user: operator.user,
      password: operator.password,
      connectTimeout: this.#deadline,
      multipleStatements: false,
      // MySQL makes its own certificate and names no host in it: it encrypts, it cannot prove who answers
      ssl: { rejectUnauthorized: false, minVersion: 'TLSv1.2' },
    });
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(new Retryable(`${member.name}: no answer in time`));
    signal.addEventListener('abort', abort, { once: true });
    let server: Connection | undefined;
    try {
      server = await Promise.race([connecting, aborted.promise]);
      server.on('error', () => undefined);
      return await Promise.race([work(server), aborted.promise]);
    } finally {
      signal.removeEventListener('abort', abort);
      if (server) server.destroy();
      else connecting.then((late) => late.destroy()).catch(() => undefined);
    }
  }
}

/** Everything about one member, as it tells it. */
async function readAnswer(name: string, server: Connection): Promise<MemberAnswer> {
  const [self] = await rows(
    server,
    'SELECT @@server_uuid AS uuid, @@version AS version,' +
      ' @@global.gtid_executed AS executed, @@global.super_read_only AS readonly',
  );
  const version = String(self?.version ?? '');
  const dialect = dialectFor(version);
  const [peerRows, [view], [channel], [clone]] = await Promise.all([
    rows(server, dialect.peers),
    rows(server, dialect.view),
    rows(
      server,
      'SELECT RECEIVED_TRANSACTION_SET AS received FROM performance_schema.replication_connection_status' +
        " WHERE CHANNEL_NAME = 'group_replication_applier'",
    ),
    dialect.clone ? rows(server, dialect.clone) : Promise.resolve([]),
  ]);
  const uuid = String(self?.uuid ?? '');
  const peers = peerRows.filter((row) => row.id).map(toPeer);
  const own = peers.find((peer) => peer.uuid === uuid);
  const up = own !== undefined && own.state !== 'OFFLINE';
  return {
    answered: true,
    name,
    uuid,
    version,
    state: own?.state ?? 'OFFLINE',
    role: own?.role,
    viewId: up && view?.view ? String(view.view) : undefined,
    peers: up ? peers : [],
    executed: compact(self?.executed),
    received: compact(channel?.received),
    superReadOnly: Number(self?.readonly) === 1,
    cloning: clone?.state === 'In Progress',
    trouble: clone?.state === 'Failed' ? `clone failed: ${String(clone.message)}` : '',
  };
}

type Row = Readonly<Record<string, unknown>>;

async function rows(server: Connection, sql: string): Promise<Row[]> {
  const [result] = await server.query(sql);
  return Array.isArray(result) ? (result as Row[]) : [];
}

const STATES: ReadonlySet<string> = new Set(['ONLINE', 'RECOVERING', 'OFFLINE', 'ERROR', 'UNREACHABLE']);

function toPeer(row: Row): Peer {
  const state = String(row.state);
  const role = row.role;
  return {
    uuid: String(row.id),
    host: String(row.host ?? ''),
    state: STATES.has(state) ? (state as MemberState) : 'OFFLINE',
    role: role === 'PRIMARY' || role === 'SECONDARY' ? (role as MemberRole) : undefined,
  };
}

/** MySQL breaks long sets into lines. */
const compact = (set: unknown): string => String(set ?? '').replace(/\s+/g, '');

/** The settings that a start needs and that the server forgets or that change: seeds and the account for recovery. */
async function prepare(
  server: Connection,
  dialect: Dialect,
  { replication }: Access,
  seeds: string,
): Promise<void> {
  const [own] = await rows(server, dialect.peers);
  // a member in ERROR must be stopped before it can start again
  if (own?.state === 'ERROR') await server.query('STOP GROUP_REPLICATION');
  await server.query(`SET GLOBAL group_replication_group_seeds = ${server.escape(seeds)}`);
  await server.query('SET SESSION sql_log_bin = 0');
  await server.query(
    dialect.recoveryAccount(server.escape(replication.user), server.escape(replication.password)),
  );
}

/** Errors of the server that trying again does not mend (MySQL manual, server error reference): access denied, syntax, unknown variable. */
const PERMANENT: ReadonlySet<number> = new Set([1064, 1142, 1193, 1227, 1231]);
/** The order is fulfilled already: GROUP_REPLICATION is running (3093), or a member is the primary by now (1123 in part). */
const FULFILLED: ReadonlySet<number> = new Set([3093]);

function toFailure(member: Member, error: unknown): Error {
  if (error instanceof Retryable || error instanceof Permanent) return error;
  const { errno, message } = error as Error & { errno?: number };
  const text = `${member.name}: ${message}`;
  if (errno !== undefined && FULFILLED.has(errno))
    return new Retryable(`${text} (it is under way already)`, { code: errno });
  return errno !== undefined && PERMANENT.has(errno)
    ? new Permanent(text, { cause: error, code: errno })
    : new Retryable(text, { cause: error, ...(errno === undefined ? {} : { code: errno }) });
}

const whySilent = (error: Error): string => {
  const code = 'code' in error ? String(error.code) : '';
  switch (code) {
    case 'ECONNREFUSED':
      return 'does not listen yet';
    case 'ER_ACCESS_DENIED_ERROR':
      return 'refuses the operator’s password';
    default:
      return `does not answer (${error.message})`;
  }
};
