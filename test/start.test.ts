/** `npm start` as a person runs it: a process of its own. */
import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';

const MAIN = new URL('../src/local/main.ts', import.meta.url).pathname;

interface Run {
  readonly child: ChildProcessWithoutNullStreams;
  /** All of standard output so far. */
  output(): string;
  /** Resolves when the output matches; rejects when the process ended before. */
  until(pattern: RegExp): Promise<RegExpMatchArray>;
  readonly ended: Promise<number>;
}

function start(...args: string[]): Run {
  const child = spawn(process.execPath, [MAIN, ...args]);
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const ended = once(child, 'close').then(([code]) => code as number);
  const until = async (pattern: RegExp) => {
    for (;;) {
      const match = text.match(pattern);
      if (match) return match;
      const over = await Promise.race([once(child.stdout, 'data').then(() => false), ended.then(() => true)]);
      if (over && !text.match(pattern)) throw new Error(`ended before ${pattern}: ${text}${errors}`);
    }
  };
  return { child, output: () => text + errors, until, ended };
}

test('--once makes the sample Ready and ends with one JSON object', async () => {
  const run = start('--once', '--speed', '10');
  assert.equal(await run.ended, 0, run.output());
  const last = JSON.parse(run.output().trim().split('\n').at(-1) ?? '');
  assert.equal(last.ready, true);
  assert.deepEqual(last.nodes, ['mysql-sample-0', 'mysql-sample-1', 'mysql-sample-2']);
  for (const count of ['seconds', 'events', 'passes', 'writes']) assert.ok(last[count] > 0, count);
});

test('--once that does not become Ready says so and fails', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'start-'));
  const file = join(folder, 'bad.yaml');
  writeFileSync(
    file,
    '{apiVersion: example.com/v1alpha1, kind: Mysql, metadata: {name: a}, spec: {size: 1, image: "bad:1"}}',
  );
  const run = start('--once', '--timeout', '2', '--file', file);
  assert.equal(await run.ended, 1);
  assert.equal(JSON.parse(run.output().trim().split('\n').at(-1) ?? '').ready, false);
  assert.match(run.output(), /ImagePullBackOff/);
  rmSync(folder, { recursive: true });
});

test('--json is one JSON object a line, the last one the result', async () => {
  const run = start('--once', '--speed', '10', '--json');
  assert.equal(await run.ended, 0, run.output());
  const lines = run
    .output()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  for (const key of ['sink', 'kubeconfig', 'event', 'write', 'pass', 'nudge', 'mysql'])
    assert.ok(
      lines.some((line) => key in line),
      key,
    );
  assert.equal(lines.at(-1)?.ready, true);
});

test('the printed commands do what they say: an event by curl, a resync', async () => {
  const run = start('--port', '0', '--speed', '10');
  await run.until(/ ready /);
  const [, curl = ''] = await run.until(/(curl [\s\S]*?mysql-sample')/);
  const posted = await promisify(execFile)('bash', ['-c', curl]);
  assert.match(posted.stdout, /^HTTP\/1.1 204/);
  const [, resync = ''] = await run.until(/Look at everything +(.*)/);
  const { stdout } = await promisify(execFile)('bash', ['-c', resync]);
  assert.match(stdout, /"mysqls":1,"settled":0,"delivered":1,"undelivered":0/);
  run.child.kill('SIGINT');
  assert.equal(await run.ended, 0);
});

test('a port that is taken is named', async () => {
  const first = start('--port', '0', '--no-sample');
  const [, port = ''] = await first.until(/listens on +http:\/\/127.0.0.1:(\d+)/);
  const second = start('--port', port, '--no-sample');
  assert.equal(await second.ended, 2);
  assert.match(second.output(), new RegExp(`^--port ${port}: .*EADDRINUSE`));
  first.child.kill('SIGTERM');
  assert.equal(await first.ended, 0);
});

test('Ctrl-C ends it cleanly, and --data brings everything back', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'start-'));
  const data = join(folder, 'cluster.json');
  const first = start('--port', '0', '--speed', '10', '--data', data);
  await first.until(/Healthy/);
  const [, gone = ''] = await first.until(/KUBECONFIG=(\S+)/);
  first.child.kill('SIGINT');
  assert.equal(await first.ended, 0, first.output());
  assert.equal(existsSync(gone), false);
  const second = start('--port', '0', '--no-sample', '--data', data);
  const [, kubeconfig = ''] = await second.until(/KUBECONFIG=(\S+)/);
  if (await hasKubectl()) {
    const { stdout } = await kubectl(kubeconfig, 'get', 'mysql', '-o', 'name');
    assert.equal(stdout.trim(), 'mysql.example.com/mysql-sample');
  }
  second.child.kill('SIGINT');
  assert.equal(await second.ended, 0);
  rmSync(folder, { recursive: true });
});

test('a wrong option is named, with the way out', async () => {
  for (const [args, word] of [
    [['--prot', '1'], /--prot.*--help/s],
    [['--port', 'x'], /--port must be a number/],
    [['--once', '--no-sample'], /--once needs/],
    [['--kubeconfig', 'x', '--once'], /--kubeconfig goes with/],
    [['--file', '/nowhere.yaml'], /^--file \/nowhere\.yaml: /m],
    [['--once', '--file', 'crds/mysql.yaml'], /--once needs a Mysql, and crds\/mysql\.yaml has none/],
    [['--data', 'README.md'], /--data README\.md holds no embedded cluster/],
  ] as const) {
    const run = start('--port', '0', ...args);
    assert.equal(await run.ended, 2, run.output());
    assert.match(run.output(), word);
    assert.doesNotMatch(run.output(), /at .*\.ts:\d+/);
  }
});

test('--help lists the options and starts nothing', async () => {
  const run = start('--help');
  assert.equal(await run.ended, 0);
  for (const option of ['--once', '--file', '--data', '--kubeconfig', '--port', '--no-sample']) {
    assert.ok(run.output().includes(option), option);
  }
});

const kubectl = (kubeconfig: string, ...args: string[]) =>
  promisify(execFile)('kubectl', ['--kubeconfig', kubeconfig, ...args], {
    timeout: 60_000,
    env: { ...process.env, EDITOR: 'sed -i s/max_connections/max_user_connections/' },
  });
const hasKubectl = () =>
  promisify(execFile)('kubectl', ['version', '--client']).then(
    () => true,
    () => false,
  );

describe('a person with kubectl', async () => {
  const skip = (await hasKubectl()) ? false : 'there is no kubectl on the PATH';

  test('lives with it: apply, wait, get, describe, edit, scale, events, failover, delete', {
    skip,
  }, async () => {
    const run = start('--port', '0', '--speed', '10', '--no-sample');
    const [, file = ''] = await run.until(/KUBECONFIG=(\S+)/);
    const told = async (...args: string[]) => {
      const { stdout, stderr } = await kubectl(file, ...args);
      return stdout + stderr;
    };
    try {
      await told('apply', '-f', 'crds/samples/mysql-sample.yaml');
      await told('wait', '--for=condition=Ready', 'mysql/mysql-sample', '--timeout=50s');
      assert.match(
        await told('get', 'mysql'),
        /NAME\s+SIZE\s+READY\s+PRIMARY\s+STATE\s+AGE\nmysql-sample\s+3\s+True\s+mysql-sample-0\s+Healthy/,
      );
      assert.match(await told('apply', '-f', 'crds/samples/mysql-sample.yaml'), /unchanged/);
      assert.match(
        await told('apply', '--server-side', '--force-conflicts', '-f', 'crds/samples/mysql-sample.yaml'),
        /serverside-applied/,
      );
      assert.match(await told('get', 'pods', '-o', 'wide'), /mysql-sample-2\s+1\/1\s+Running/);
      assert.match(await told('describe', 'mysql', 'mysql-sample'), /Normal\s+Healthy/);
      assert.match(await told('events'), /Healthy/);
      await told(
        'patch',
        'mysql',
        'mysql-sample',
        '--type=merge',
        '-p',
        '{"spec":{"config":{"max_connections":"99"}}}',
      );
      assert.match(await told('edit', 'mysql', 'mysql-sample'), /edited/);
      assert.match(
        await told('get', 'mysql', 'mysql-sample', '-o', 'jsonpath={.spec.config}'),
        /max_user_connections/,
      );
      await told('scale', 'mysql', 'mysql-sample', '--replicas=5');
      await told('wait', '--for=jsonpath={.status.replicas}=5', 'mysql/mysql-sample', '--timeout=50s');
      await told('wait', '--for=condition=Ready', 'mysql/mysql-sample', '--timeout=50s');
      const primary = (await told('get', 'mysql', 'mysql-sample', '-o', 'jsonpath={.status.primary}')).trim();
      await told('delete', 'pod', primary);
      await told('wait', '--for=condition=Ready', 'mysql/mysql-sample', '--timeout=50s');
      await told('delete', 'mysql', 'mysql-sample');
      assert.match(await told('get', 'sts,svc,cm,pdb'), /No resources found/);
      assert.match(
        await told('get', 'pvc,secret', '-o', 'name'),
        /persistentvolumeclaim\/data-mysql-sample-0[\s\S]*secret\/mysql-sample-credentials/,
      );
    } finally {
      run.child.kill('SIGINT');
      await run.ended;
    }
  });
});
