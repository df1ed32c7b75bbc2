import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { readScripts } from './scripts.ts';

const FOLDER = join(import.meta.dirname, 'scripts');
const has = (program: string): boolean => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** A pod's places in a folder of this test's. */
function aPod() {
  const folder = mkdtempSync(join(tmpdir(), 'pod-'));
  const credentials = join(folder, 'credentials');
  const run = join(folder, 'run');
  for (const path of [credentials, run]) mkdirSync(path);
  const env = {
    PATH: process.env.PATH ?? '',
    CONFIG: FOLDER,
    CREDENTIALS: credentials,
    RUN: run,
    VOLUME: join(folder, 'volume'),
    POD_NAME: 'db-2',
    POD_NAMESPACE: 'shop',
    CLUSTER: 'db',
    NODES_SERVICE: 'db-nodes',
  };
  mkdirSync(env.VOLUME);
  return {
    folder,
    run,
    env,
    secret: (key: string, value: string) => writeFileSync(join(credentials, key), value),
    bash: (script: string, ...args: string[]) =>
      promisify(execFile)('bash', [join(FOLDER, script), ...args], { env, timeout: 20_000 }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

test('all of them are read, and each is bash that parses', () => {
  const scripts = readScripts();
  assert.deepEqual(Object.keys(scripts), [
    'env.sh',
    'init.sh',
    'accounts.sh',
    'run.sh',
    'watch.sh',
    'probe.sh',
    'stop.sh',
  ]);
  for (const name of Object.keys(scripts)) execFileSync('bash', ['-n', join(FOLDER, name)]);
});

test('shellcheck has nothing to say', {
  skip: has('shellcheck') ? false : 'there is no shellcheck on the PATH',
}, () => {
  const files = Object.keys(readScripts()).map((name) => join(FOLDER, name));
  execFileSync('shellcheck', ['--severity=warning', '--exclude=SC1091', ...files]);
});

describe('accounts.sh', () => {
  test('passwords reach SQL as they are, whatever characters they hold', async () => {
    using pod = aPod();
    pod.secret('operator-password', `it's "quoted" \\ and $HOME`);
    pod.secret('replication-password', 'päßwörd / `id` ; --');
    pod.secret('root-password', 'plain\n');
    const { stdout } = await pod.bash('accounts.sh', 'start');
    assert.ok(stdout.includes(`IDENTIFIED BY 'it\\'s "quoted" \\\\ and $HOME' REQUIRE SSL;`), stdout);
    assert.ok(stdout.includes(`IDENTIFIED BY 'päßwörd / \`id\` ; --' REQUIRE SSL;`));
    assert.ok(stdout.includes(`IDENTIFIED BY 'plain' REQUIRE SSL;`));
  });

  test('nothing of it enters the binary log, and a started server ends read-only', async () => {
    using pod = aPod();
    for (const key of ['operator-password', 'replication-password', 'root-password']) pod.secret(key, 'x');
    const start = (await pod.bash('accounts.sh', 'start')).stdout.trim().split('\n');
    assert.equal(start[0], 'SET SESSION sql_log_bin = 0;');
    assert.equal(start.at(-1), 'SET GLOBAL super_read_only = ON;');
    const running = (await pod.bash('accounts.sh', 'running')).stdout.trim().split('\n');
    assert.equal(running[0], 'SET SESSION sql_log_bin = 0;');
    const writable = running.indexOf('SET GLOBAL super_read_only = OFF;');
    const again = running.findIndex((line) =>
      line.startsWith('SET GLOBAL super_read_only = NOT (@@server_uuid <=>'),
    );
    assert.ok(writable >= 0 && again > writable, 'only the primary stays writable');
    assert.ok(running.slice(again + 1).every((line) => line.startsWith('CHANGE REPLICATION SOURCE TO ')));
  });

  test('a password of the user’s own wins for root', async () => {
    using pod = aPod();
    for (const key of ['operator-password', 'replication-password', 'root-password'])
      pod.secret(key, 'generated');
    pod.secret('user-root-password', 'mine');
    assert.match(
      (await pod.bash('accounts.sh', 'start')).stdout,
      /ALTER USER 'root'@'%' IDENTIFIED BY 'mine'/,
    );
  });

  test('without a complete Secret it fails, and mysqld is not started without passwords', async () => {
    using pod = aPod();
    await assert.rejects(pod.bash('accounts.sh', 'start'));
  });
});

describe('init.sh', () => {
  test('never touches a data directory that is there, nor files that it does not know', async () => {
    using pod = aPod();
    const data = join(pod.env.VOLUME, 'data');
    mkdirSync(join(data, 'mysql'), { recursive: true });
    await pod.bash('init.sh');
    rmSync(join(data, 'mysql'), { recursive: true });
    writeFileSync(join(data, 'precious'), 'x');
    await assert.rejects(pod.bash('init.sh'), /not touching it/);
  });
});

describe('probe.sh', () => {
  const now = () => Math.floor(Date.now() / 1_000);
  const ready = (pod: ReturnType<typeof aPod>, state: string) => {
    writeFileSync(join(pod.run, 'state'), `${state}\n`);
    return pod.bash('probe.sh').then(
      () => true,
      () => false,
    );
  };
  test('ready is ONLINE with a majority reachable, seen a moment ago', async () => {
    using pod = aPod();
    assert.equal(await ready(pod, `${now()} ONLINE SECONDARY 0 3`), true);
    assert.equal(await ready(pod, `${now()} ONLINE PRIMARY 1 3`), true);
    assert.equal(await ready(pod, `${now()} ONLINE PRIMARY 2 3`), false);
    assert.equal(await ready(pod, `${now()} RECOVERING SECONDARY 0 3`), false);
    assert.equal(await ready(pod, `${now()} DOWN - 0 0`), false);
    assert.equal(await ready(pod, `${now() - 60} ONLINE PRIMARY 0 3`), false);
  });
});

describe('watch.sh', () => {
  test('posts a nudge that is a CloudEvent, and lives on with nobody listening', async () => {
    using pod = aPod();
    const requests: string[] = [];
    const heard = new EventTarget();
    const server = createServer((socket) => {
      socket.once('data', (chunk) => {
        requests.push(chunk.toString());
        socket.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n');
        heard.dispatchEvent(new Event('heard'));
      });
      socket.on('error', () => undefined);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const config = join(pod.folder, 'config');
    mkdirSync(config);
    for (const [name, text] of Object.entries(readScripts())) writeFileSync(join(config, name), text);
    writeFileSync(
      join(config, 'nudge-url'),
      `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    );
    const child = execFile('bash', [join(config, 'watch.sh')], { env: { ...pod.env, CONFIG: config } });
    await once(heard, 'heard');
    const [head = ''] = requests;
    assert.match(head, /^POST \/hook HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\n/);
    assert.match(head, /\r\nce-type: com\.example\.mysql\.nudge\r\n/);
    assert.match(head, /\r\nce-subject: shop\/db\r\n/);
    assert.match(head, /\r\nContent-Length: 0\r\n/);
    server.close();
    assert.equal(child.exitCode, null);
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
});
