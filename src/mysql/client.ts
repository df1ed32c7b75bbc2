/** The adapter of the `Members` port on mysql2: one short-lived TLS connection a member a pass. */
import { Permanent, Retryable } from '../errors.ts';
import { SQL_PORT } from '../resource/names.ts';
import { compact, ownState, readAnswer } from './answer.ts';
import type { Dialect } from './dialect.ts';
import { serverError, toFailure, whySilent } from './failure.ts';
import type { Access, Member, MemberReport, Members } from './members.ts';
import { inSession, rows, type Session, type Target } from './session.ts';

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

type Order = Exclude<keyof Members, 'report'>;

export class MysqlMembers implements Members {
  readonly #portOf: (member: Member) => number;
  readonly #deadline: number;
  readonly #patience: number;
  /** Orders that go on after the pass that gave them, by member address: not to be given twice. */
  readonly #underWay = new Map<string, Order>();

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
        inSession(this.#target(member, access), this.#deadline, signal, (session) =>
          readAnswer(member.name, session),
        ).catch(
          (error: unknown): MemberReport => ({
            answered: false,
            name: member.name,
            why: whySilent(error),
          }),
        ),
      ),
    );
  }

  bootstrap(member: Member, access: Access, expected: string, signal: AbortSignal): Promise<void> {
    return this.#order('bootstrap', member, access, signal, async (session) => {
      if (await isInGroup(session)) return;
      const { server } = session;
      const [row] = await rows(server, 'SELECT @@global.gtid_executed AS executed');
      const executed = compact(row?.executed);
      if (executed !== expected) {
        throw new Retryable(
          `${member.name} has ${executed || 'nothing'} by now, not ${expected || 'nothing'}: not starting the group`,
        );
      }
      await prepare(session, access, this.#addresses([member], session.dialect));
      await server.query('SET GLOBAL group_replication_bootstrap_group = ON');
      try {
        await start(session);
      } finally {
        // left ON, the next start of this member would be a second group
        await server.query('SET GLOBAL group_replication_bootstrap_group = OFF');
      }
    });
  }

  join(member: Member, access: Access, seeds: readonly Member[], signal: AbortSignal): Promise<void> {
    return this.#order('join', member, access, signal, async (session) => {
      if (await isInGroup(session)) return;
      const { server, dialect } = session;
      await prepare(session, access, this.#addresses(seeds, dialect));
      if (dialect.cloneWhenNeeded) await server.query(dialect.cloneWhenNeeded);
      await start(session);
    });
  }

  rebuild(member: Member, access: Access, donor: Member, signal: AbortSignal): Promise<void> {
    return this.#order('rebuild', member, access, signal, async ({ server, dialect }) => {
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
      try {
        await server.query(
          `CLONE INSTANCE FROM ${server.escape(user)}@${server.escape(donor.host)}:${port} IDENTIFIED BY ${server.escape(password)} REQUIRE SSL`,
        );
      } catch (error) {
        // a server that has cloned ends at once, to start with the new data, and takes the connection along
        if (serverError(error) === undefined) return;
        await server.query('SET GLOBAL super_read_only = ON');
        throw error;
      }
    });
  }

  leave(member: Member, access: Access, signal: AbortSignal): Promise<void> {
    return this.#order('leave', member, access, signal, async ({ server }) => {
      await server.query('STOP GROUP_REPLICATION');
    });
  }

  setPrimary(via: Member, access: Access, target: string, signal: AbortSignal): Promise<void> {
    return this.#order('setPrimary', via, access, signal, async ({ server, dialect }) => {
      if (!dialect.setPrimary) {
        throw new Permanent(
          `MySQL ${dialect.versions} cannot switch its primary by an order: restart the primary instead`,
        );
      }
      await server.query(dialect.setPrimary(server.escape(target)));
    });
  }

  /** group_replication_group_seeds; host names, so IPv6 needs no brackets here. */
  #addresses(seeds: readonly Member[], { groupPort }: Dialect): string {
    return seeds
      .map((seed) => `${seed.host}:${groupPort === SQL_PORT ? this.#portOf(seed) : groupPort}`)
      .join(',');
  }

  #target(member: Member, { operator }: Access): Target {
    const { name, address: host } = member;
    return { name, host, port: this.#portOf(member), ...operator, connectTimeout: this.#deadline };
  }

  /**
   * Gives an order whose statements may take long. They are waited for as long as patience goes; then they continue on their own
   * connection, and the one that runs does so on the server even when this process ends. A member that is still at one order gets
   * no second one.
   */
  async #order(
    order: Order,
    member: Member,
    access: Access,
    signal: AbortSignal,
    work: (session: Session) => Promise<void>,
  ): Promise<void> {
    signal.throwIfAborted();
    const target = this.#target(member, access);
    const key = `${target.host} ${target.port}`;
    const earlier = this.#underWay.get(key);
    if (earlier === order) return;
    if (earlier) throw new Retryable(`${member.name} is still at an earlier order (${earlier})`);
    this.#underWay.set(key, order);
    const done = inSession(target, LONGEST, undefined, work).finally(() => this.#underWay.delete(key));
    // what fails after nobody waits any more is seen in the next report
    done.catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#patience);
    });
    try {
      await Promise.race([done, patience]);
    } catch (error) {
      throw toFailure(member.name, error);
    } finally {
      clearTimeout(timer);
    }
  }
}

async function isInGroup(session: Session): Promise<boolean> {
  const state = await ownState(session);
  return state === 'ONLINE' || state === 'RECOVERING';
}

/** The settings that a start needs and that the server forgets or that change: seeds and the account for recovery. */
async function prepare(session: Session, { replication }: Access, seeds: string): Promise<void> {
  const { server, dialect } = session;
  // a member in ERROR must be stopped before it can start again
  if ((await ownState(session)) === 'ERROR') await server.query('STOP GROUP_REPLICATION');
  // whoever bootstrapped may have died before it took this back
  await server.query('SET GLOBAL group_replication_bootstrap_group = OFF');
  await server.query(`SET GLOBAL group_replication_group_seeds = ${server.escape(seeds)}`);
  await server.query('SET SESSION sql_log_bin = 0');
  await server.query(
    dialect.recoveryAccount(server.escape(replication.user), server.escape(replication.password)),
  );
}

/** ER_GROUP_REPLICATION_RUNNING: somebody else's order came a moment earlier. */
const ALREADY_RUNNING = 3093;

async function start({ server }: Session): Promise<void> {
  await server.query('START GROUP_REPLICATION').catch((error: unknown) => {
    if (serverError(error) !== ALREADY_RUNNING) throw error;
  });
}
