/** The forwarder against requests captured from the real adapter, and its delivery as it was measured. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { EmbeddedCluster } from '../src/local/cluster.ts';
import { type ForwardedEvent, Forwarder, type ForwarderOptions } from '../src/local/forwarder.ts';

interface Captured {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const captured = (name: string): Captured =>
  JSON.parse(readFileSync(new URL(`fixtures/adapter/${name}.json`, import.meta.url), 'utf8'));

interface Received {
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A sink that answers as it is told, and an embedded cluster whose changes go there. */
async function aForwarder(options: Partial<ForwarderOptions> = {}, answers: readonly number[] = []) {
  const cleanup = new AsyncDisposableStack();
  const received: Received[] = [];
  const sink = createServer(async (request, response) => {
    const body = (await request.toArray()).join('');
    const status = answers[received.length] ?? 204;
    received.push({ rawHeaders: request.rawHeaders, headers: request.headers, body });
    if (status === 0) request.socket.destroy();
    else response.writeHead(status).end();
  }).listen(0, '127.0.0.1');
  await once(sink, 'listening');
  cleanup.defer(() => void sink.close());
  const { port } = sink.address() as AddressInfo;
  const cluster = new EmbeddedCluster();
  cluster.installCrd();
  const forwarded: ForwardedEvent[] = [];
  const changed = new EventTarget();
  const forwarder = new Forwarder({
    api: cluster.api,
    source: 'https://127.0.0.1:26443',
    sink: `http://127.0.0.1:${port}/hook`,
    namespace: 'default',
    resources: [
      { kind: cluster.api.kindOf('example.com/v1alpha1', 'Mysql') },
      { kind: cluster.api.kindOf('v1', 'Pod'), labelSelector: 'app=mysql' },
    ],
    onForwarded: (event) => {
      forwarded.push(event);
      changed.dispatchEvent(new Event('forwarded'));
    },
    ...options,
  });
  cleanup.defer(() => forwarder.stop());
  const until = async (count: number) => {
    while (forwarded.length < count) await once(changed, 'forwarded');
  };
  return {
    cluster,
    received,
    forwarded,
    forwarder,
    until,
    [Symbol.asyncDispose]: () => cleanup.disposeAsync(),
  };
}

const MYSQL =
  '{apiVersion: example.com/v1alpha1, kind: Mysql, metadata: {name: fx}, spec: {size: 1, image: "mysql:8"}}';
const POD =
  '{apiVersion: v1, kind: Pod, metadata: {name: fx-pod, labels: {app: mysql}}, spec: {containers: [{name: c, image: x}]}}';

/** Values that differ from one event to the next by their nature. */
const MASKED = new Set(['ce-id', 'ce-time', 'host', 'content-length']);
const comparable = (headers: Readonly<Record<string, string | string[] | undefined>>) =>
  Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name]) => name !== 'connection')
      .map(([name, value]) => [name, MASKED.has(name) ? typeof value : value]),
  );

for (const [fixture, yaml, plural] of [
  ['reference-mysql-add', MYSQL, 'mysqls'],
  ['reference-pod-add', POD, 'pods'],
] as const) {
  test(`${fixture}: the same request, header by header`, async () => {
    await using world = await aForwarder();
    world.cluster.applyYaml(yaml);
    await world.until(1);
    const [own] = world.received;
    const real = captured(fixture);
    assert.deepEqual(comparable(own?.headers ?? {}), comparable(real.headers));
    assert.deepEqual(JSON.parse(own?.body ?? ''), JSON.parse(real.body));
    assert.ok(plural);
  });
}

test('resource mode sends the whole object with its managedFields', async () => {
  await using world = await aForwarder({ mode: 'Resource' });
  world.cluster.applyYaml(MYSQL);
  await world.until(1);
  const real = captured('resource-mysql-add');
  assert.deepEqual(comparable(world.received[0]?.headers ?? {}), comparable(real.headers));
  const own = JSON.parse(world.received[0]?.body ?? '');
  assert.deepEqual(Object.keys(own).sort(), Object.keys(JSON.parse(real.body)).sort());
  assert.equal(own.metadata.managedFields[0].fieldsType, 'FieldsV1');
});

test('a pod that leaves the selector is a delete, one that enters an add', async () => {
  await using world = await aForwarder();
  const kind = world.cluster.api.kindOf('v1', 'Pod');
  const label = (app: string) =>
    world.cluster.api.patch(kind, 'default', 'fx-pod', 'merge', { metadata: { labels: { app } } });
  world.cluster.applyYaml(POD);
  label('other');
  label('mysql');
  await world.until(3);
  assert.deepEqual(
    world.forwarded.map(({ verb }) => verb),
    ['add', 'delete', 'add'],
  );
  for (const name of ['reference-pod-label-leave', 'reference-pod-label-enter']) {
    const type = captured(name).headers['Ce-Type'];
    assert.ok(
      world.received.some(({ headers }) => headers['ce-type'] === type),
      type,
    );
  }
});

test('what existed before it started is never told', async () => {
  await using world = await aForwarder();
  world.cluster.applyYaml(MYSQL);
  await world.until(1);
  const late = new Forwarder({
    api: world.cluster.api,
    source: 'https://127.0.0.1:26443',
    sink: 'http://127.0.0.1:9/',
    resources: [{ kind: world.cluster.api.kindOf('example.com/v1alpha1', 'Mysql') }],
  });
  assert.equal(late.pending, 0);
  await late.stop();
});

test('503 and a broken connection are tried again with the same ce-id; 400 and 500 are dropped at once', async () => {
  await using world = await aForwarder({}, [503, 0, 204, 400, 500]);
  const kind = world.cluster.api.kindOf('example.com/v1alpha1', 'Mysql');
  world.cluster.applyYaml(MYSQL);
  await world.until(1);
  for (const size of [2, 3]) world.cluster.api.patch(kind, 'default', 'fx', 'merge', { spec: { size } });
  await world.until(3);
  assert.deepEqual(
    world.forwarded.map(({ status, tries }) => [status, tries]),
    [
      [204, 3],
      [400, 1],
      [500, 1],
    ],
  );
  const ids = world.received.map(({ headers }) => headers['ce-id']);
  assert.equal(new Set(ids.slice(0, 3)).size, 1);
  assert.equal(new Set(ids).size, 3);
});

test('it gives up after six tries', async () => {
  await using world = await aForwarder({}, Array(6).fill(503));
  world.cluster.applyYaml(MYSQL);
  await world.until(1);
  assert.deepEqual(
    world.forwarded.map(({ status, tries }) => [status, tries]),
    [[503, 6]],
  );
});
