/**
 * A member's pod as processes of this machine: the very scripts of the ConfigMap around a real mysqld, on a port of its own on
 * loopback. Group Replication leaves out a seed whose address and port are its own, so ports of their own are all it takes.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';
import { myCnf } from '../../src/mysql/config.ts';
import type { Access, Member } from '../../src/mysql/members.ts';
import { readScripts } from '../../src/mysql/scripts.ts';

/** Where `mysqld` and `mysql` lie; unset means the PATH. */
const DIRECTORY = process.env.MYSQLD_DIR;
const MYSQLD = DIRECTORY ? join(DIRECTORY, 'mysqld') : 'mysqld';
const MYSQL = DIRECTORY ? join(DIRECTORY, 'mysql') : 'mysql';

/** Why there is no real server here; false when there is one. For `skip`. */
export const noMysqld: string | false = (() => {
  try {
    execFileSync(MYSQLD, ['--no-defaults', '--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'there is no mysqld on the PATH, nor in the folder that MYSQLD_DIR names';
  }
})();

const asRoot = process.getuid?.() === 0;
/** Binaries that were unpacked somewhere do not find their own files. */
const unpacked = DIRECTORY
  ? [
      `basedir=${DIRECTORY}/root/usr`,
      `plugin_dir=${DIRECTORY}/root/usr/lib/mysql/plugin`,
      `lc_messages_dir=${DIRECTORY}/root/usr/share/mysql`,
    ]
  : [];
const PLACE = [...unpacked, ...(asRoot ? ['user=root'] : [])];
/** Small, as several of them share one machine; a commit need not survive its power failure. */
const SMALL = [
  'innodb_buffer_pool_size=32M',
  'innodb_redo_log_capacity=16M',
  'max_connections=40',
  'bind_address=127.0.0.1',
];

/** What a pod has by its volume claim, ConfigMap, Secret and environment. */
export interface PodOptions {
  /** A folder for everything of this pod. Its path is short: a socket's may have 107 bytes. */
  readonly folder: string;
  readonly ordinal: number;
  readonly port: number;
  readonly access: Access;
  readonly rootPassword: string;
  readonly nudgeUrl?: string;
}

export class Pod {
  readonly member: Member;
  readonly folder: string;
  readonly port: number;
  readonly #options: PodOptions;
  /** All that the scripts and the server said. */
  log = '';
  #process: ReturnType<typeof spawn> | undefined;

  constructor(options: PodOptions) {
    const { ordinal, folder, port } = options;
    this.#options = options;
    this.folder = folder;
    this.port = port;
    // on one host the stable name is the loopback address; the port tells the members apart
    this.member = { name: `db-${ordinal}`, ordinal, address: '127.0.0.1', host: '127.0.0.1' };
  }

  /** The volume as the kubelet mounts it: present, and empty the first time. */
  get data(): string {
    return join(this.folder, 'volume', 'data');
  }

  get running(): boolean {
    return this.#process?.exitCode === null && this.#process.signalCode === null;
  }

  /** Lays out the mounts. `template` is a data directory to begin with instead of an empty volume. */
  async prepare(template?: string): Promise<void> {
    const { access, rootPassword, nudgeUrl = 'http://127.0.0.1:9/' } = this.#options;
    for (const name of ['config', 'credentials', 'volume', 'run', 'tmp'])
      await mkdir(join(this.folder, name), { recursive: true });
    const config = { ...readScripts(), 'my.cnf': myCnf(access.groupName, {}), 'nudge-url': nudgeUrl };
    for (const [name, text] of Object.entries(config))
      await writeFile(join(this.folder, 'config', name), text);
    await this.setSecret(access.operator.password, access.replication.password, rootPassword);
    if (template) await cp(template, this.data, { recursive: true });
  }

  async setSecret(operator: string, replication: string, root: string): Promise<void> {
    const values = {
      'operator-password': operator,
      'replication-password': replication,
      'root-password': root,
    };
    for (const [key, value] of Object.entries(values))
      await writeFile(join(this.folder, 'credentials', key), value);
  }

  get #environment(): NodeJS.ProcessEnv {
    const at = (name: string) => join(this.folder, name);
    return {
      PATH: process.env.PATH,
      CONFIG: at('config'),
      CREDENTIALS: at('credentials'),
      VOLUME: at('volume'),
      RUN: at('run'),
      TMPDIR: at('tmp'),
      POD_NAME: this.member.name,
      POD_NAMESPACE: 'shop',
      CLUSTER: 'db',
      NODES_SERVICE: 'db-nodes',
      HOST_NAME: '127.0.0.1',
      SQL_PORT: String(this.port),
      MYSQLD,
      MYSQL,
      MYSQLD_INIT_OPTIONS: PLACE.map((option) => `--${option}`).join(' '),
      EXTRA_CONFIG: [...PLACE, ...SMALL].join('\n'),
    };
  }

  /** The container starts. */
  start(): void {
    const script = join(this.folder, 'config', 'run.sh');
    // a process group of its own, so that nothing of it outlives a test
    const child = spawn('bash', [script], {
      env: this.#environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.log += text;
      });
    this.#process = child;
  }

  /** One of the scripts, as an exec probe or a hook runs it. */
  run(script: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
    const path = join(this.folder, 'config', script);
    return promisify(execFile)('bash', [path, ...args], { env: this.#environment, timeout: 60_000 });
  }

  /** To mysqld itself; PID 1 of the pod lives on. */
  async signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    process.kill(await this.mysqldPid(), name);
  }

  async mysqldPid(): Promise<number> {
    return Number(await readFile(join(this.folder, 'run', 'mysqld.pid'), 'utf8'));
  }

  /** A signal to PID 1; resolves with its exit code when all is over. */
  async stop(name: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): Promise<number | null> {
    const child = this.#process;
    if (!child || !this.running) return child?.exitCode ?? null;
    const ended = once(child, 'exit');
    child.kill(name);
    await ended;
    return child.exitCode;
  }

  /** As a container dies: every process at once. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (!child?.pid) return;
    const ended = this.running ? once(child, 'exit') : undefined;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
    await ended;
  }

  /** Statements one after the other on one connection as root; the rows of the last. */
  async sql(...statements: string[]): Promise<Record<string, unknown>[]> {
    return sqlAs('root', this.#options.rootPassword, this.port, statements);
  }
}

/** As any user who may connect. */
export async function sqlAs(
  user: string,
  password: string,
  port: number,
  statements: readonly string[],
): Promise<Record<string, unknown>[]> {
  const server = await createConnection({
    host: '127.0.0.1',
    port,
    user,
    password,
    connectTimeout: 1_000,
    ssl: { rejectUnauthorized: false },
  });
  server.on('error', () => undefined);
  try {
    let last: unknown;
    for (const statement of statements) [last] = await server.query(statement);
    return Array.isArray(last) ? (last as Record<string, unknown>[]) : [];
  } finally {
    server.destroy();
  }
}

/** A folder for pods, on a short path. */
export const podFolder = (): Promise<string> => mkdtemp('/tmp/mysqld-');

/** Ports that nobody has at this moment. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

/** Asks until it is so; throws after `seconds` with what was waited for. */
export async function eventually<T>(
  what: string,
  seconds: number,
  ask: () => Promise<T | false>,
): Promise<T> {
  const end = performance.now() + seconds * 1_000;
  for (;;) {
    const answer = await ask().catch((error: unknown) => {
      if (performance.now() > end) throw error;
      return false as const;
    });
    if (answer !== false) return answer;
    if (performance.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
    await pause(100);
  }
}

export const removeFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });
