import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { kubeconfigFor, serveApi } from './api/server.ts';
import { EmbeddedCluster } from './cluster.ts';
import { resyncEvery } from './resync-job.ts';

test('runs the resync against the cluster, and its events reach the sink', async () => {
  await using cleanup = new AsyncDisposableStack();
  const cluster = new EmbeddedCluster();
  cluster.installCrd();
  cluster.applyYaml(
    '{apiVersion: example.com/v1alpha1, kind: Mysql, metadata: {name: db}, spec: {size: 1, image: "mysql:8.4"}}',
  );
  const api = await serveApi(cluster.api);
  cleanup.defer(() => api.close());
  const folder = mkdtempSync(join(tmpdir(), 'resync-'));
  cleanup.defer(() => rmSync(folder, { recursive: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigFor(api.url));
  const subjects: unknown[] = [];
  const sink = createServer((request, response) => {
    subjects.push(request.headers['ce-subject']);
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await once(sink, 'listening');
  cleanup.defer(() => void sink.close());
  const { port } = sink.address() as AddressInfo;

  const line = await new Promise<string>((resolve) => {
    const every = 10;
    const stop = resyncEvery({ kubeconfig, sink: `http://127.0.0.1:${port}/`, every, onEnd: resolve });
    cleanup.defer(stop);
  });
  const { mysqls, delivered } = JSON.parse(line);
  assert.deepEqual([mysqls, delivered], [1, 1]);
  assert.equal(subjects[0], 'default/db');
});
