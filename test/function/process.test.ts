/** The function as a process: how it starts, and how it ends. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { serveApi } from '../../src/local/api/server.ts';
import { EmbeddedCluster } from '../../src/local/cluster.ts';
import { type Child, runFunction } from './child.ts';
import { nudge, send } from './server.ts';

const portOf = async (child: Child): Promise<number> => Number((await child.until(/"port":(\d+)/))[1]);

describe('at the start', () => {
  test('--help lists the environment and ends', async () => {
    await using child = runFunction('reconcile', { args: ['--help'] });
    assert.equal(await child.ended, 0);
    assert.match(child.output(), /REPLY_BUDGET_MS .*\(2000\)/);
  });

  const wrong: [string, { args?: string[]; env?: Record<string, string> }, number, RegExp][] = [
    ['an argument', { args: ['--prot', '1'] }, 2, /^Unknown option '--prot'.*--help/],
    ['a variable', { env: { PORT: 'http' } }, 2, /^PORT must be a whole number/],
    ['a kubeconfig', { env: { KUBECONFIG: '/absent' } }, 1, /^cannot use the kubeconfig \/absent: /],
  ];
  for (const [what, options, code, message] of wrong) {
    test(`${what} that cannot be used is named in one line`, async () => {
      await using child = runFunction('reconcile', options);
      assert.equal(await child.ended, code);
      assert.match(child.output(), message);
      assert.equal(child.output().trim().split('\n').length, 1);
    });
  }

  test('a port that is taken is named', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, resolve));
    const { port } = taken.address() as AddressInfo;
    await using cleanup = new AsyncDisposableStack();
    cleanup.defer(() => void taken.close());
    await using child = runFunction('reconcile', { env: { PORT: `${port}` } });
    assert.equal(await child.ended, 1);
    assert.match(child.output(), new RegExp(`PORT ${port} cannot be listened on: .*EADDRINUSE`));
  });

  test('it is ready without an API server: what it needs it asks for when an event comes', async () => {
    await using child = runFunction('reconcile', { env: { PORT: '0' } });
    const port = await portOf(child);
    const ready = await send(port, { method: 'GET', path: '/healthz' });
    assert.deepEqual([ready.status, ready.body], [200, '']);
    assert.equal((await send(port, nudge('default/orders'))).status, 503);
  });
});

describe('at the end', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`${signal} lets the running pass end and answers its event`, async () => {
      const cluster = new EmbeddedCluster();
      cluster.installCrd();
      const asked = Promise.withResolvers<void>();
      const goOn = Promise.withResolvers<undefined>();
      const api = await serveApi(cluster.api, {
        intercept: () => {
          asked.resolve();
          return goOn.promise;
        },
      });
      await using cleanup = new AsyncDisposableStack();
      cleanup.defer(() => api.close());
      await using child = runFunction('reconcile', { api: api.url, env: { PORT: '0' } });
      const port = await portOf(child);
      const answer = send(port, nudge('default/orders'));
      await asked.promise;
      child.process.kill(signal);
      // it has heard the signal when it takes no more connections
      for (let open = true; open; ) {
        open = await send(port, { method: 'GET' }).then(
          () => true,
          () => false,
        );
      }
      goOn.resolve(undefined);
      assert.equal((await answer).status, 204);
      assert.equal(await child.ended, 0);
      assert.match(child.output(), /"state":"Gone"/);
      assert.match(child.output(), /"drained":true/);
    });
  }

  test('idle, it ends at once', async () => {
    await using child = runFunction('reconcile', { env: { PORT: '0' } });
    await portOf(child);
    child.process.kill('SIGTERM');
    assert.equal(await child.ended, 0);
  });

  test('a rejection that nobody handled is logged with its stack, and the process ends', async () => {
    const preload = "process.on('SIGUSR2', () => void Promise.reject(new Error('forgotten')))";
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(preload)}`;
    await using child = runFunction('reconcile', { env: { PORT: '0', NODE_OPTIONS } });
    await portOf(child);
    child.process.kill('SIGUSR2');
    assert.equal(await child.ended, 1);
    assert.match(child.output(), /"level":"fatal".*"message":"forgotten","stack":/);
  });
});
