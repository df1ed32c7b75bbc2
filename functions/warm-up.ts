/**
 * Makes the code cache of a bundle: the function is run once against an embedded API server over TLS, on the path that a cold start
 * takes, and what V8 compiled on the way is written down when it ends.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { handlerFor } from '../src/local/api/server.ts';
import { EmbeddedCluster } from '../src/local/cluster.ts';
import type { FunctionName } from './bundle.ts';
import { selfSigned } from './self-signed.ts';

/** Runs `folder`/NAME.cjs with `node` and leaves NAME.bundle.cjs.cache beside it. */
export async function warmUp(node: string, folder: string, name: FunctionName): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const cluster = new EmbeddedCluster();
  cluster.installCrd();
  cluster.applyYaml(
    '{apiVersion: example.com/v1alpha1, kind: Mysql, metadata: {name: warm}, spec: {size: 1, image: "mysql:8.4"}}',
  );
  const account = mkdtempSync(join(tmpdir(), 'warm-up-'));
  cleanup.defer(() => rmSync(account, { recursive: true, force: true }));
  const { key, cert } = selfSigned(account);
  const api = createServer({ key, cert }, handlerFor(cluster.api)).listen(0, '127.0.0.1');
  await once(api, 'listening');
  cleanup.defer(() => {
    api.close();
    api.closeAllConnections();
  });
  mkdirSync(account, { recursive: true });
  writeFileSync(join(account, 'ca.crt'), cert);
  writeFileSync(join(account, 'token'), 'token');

  const sink = await freePort();
  const env = {
    PATH: process.env.PATH ?? '',
    PORT: `${sink}`,
    LOG_LEVEL: 'error',
    K_SINK: `http://127.0.0.1:${sink}/`,
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: `${(api.address() as AddressInfo).port}`,
    SERVICE_ACCOUNT_FOLDER: account,
    WRITE_CODE_CACHE: join(folder, `${name}.bundle.cjs.cache`),
  };
  const child = spawn(node, [join(folder, `${name}.cjs`)], { env, stdio: ['ignore', 'inherit', 'inherit'] });
  cleanup.defer(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  if (name === 'reconcile') {
    await listening(sink, child);
    for (let pass = 0; pass < 3; pass += 1) {
      await post(sink);
      cluster.settle();
    }
    child.kill('SIGTERM');
  }
  await ended;
}

async function freePort(): Promise<number> {
  const { createServer: plain } = await import('node:net');
  const server = plain().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function listening(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const up = await new Promise<boolean>((resolve) => {
      request({ port, host: '127.0.0.1', path: '/healthz' }, (response) =>
        resolve(response.resume().statusCode === 200),
      )
        .on('error', () => resolve(false))
        .end();
    });
    if (up) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`the function ended with ${child.exitCode} before it listened`);
}

const post = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = {
      'ce-specversion': '1.0',
      'ce-id': '1',
      'ce-source': 'warm-up',
      'ce-type': 'com.example.mysql.nudge',
      'ce-subject': 'default/warm',
    };
    request({ port, host: '127.0.0.1', method: 'POST', headers }, (response) => {
      response.resume().on('end', resolve);
    })
      .on('error', reject)
      .end();
  });
