/** The forwarder beside what was captured from Knative's real receive adapter: same requests, same order, same retries. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import type { JsonObject } from '../src/local/api/json.ts';
import { EmbeddedCluster } from '../src/local/cluster.ts';
import { type ForwardedEvent, Forwarder, type ForwarderOptions } from '../src/local/forwarder.ts';

interface Received {
  readonly method: string;
  readonly path: string;
  readonly httpVersion: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Answers with one status after the other, the last one for good; `drop` resets the connection. */
async function aSink(...statuses: (number | 'drop')[]) {
  const received: Received[] = [];
  const connections = new Set<unknown>();
  let gate: Promise<unknown> = Promise.resolve();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    connections.add(request.socket);
    const body = (await request.toArray()).join('');
    const { method = '', url = '', httpVersion, rawHeaders } = request;
    const headers = Object.fromEntries(
      rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? '']] : [])),
    );
    received.push({ method, path: url, httpVersion, headers, body });
    await gate;
    const status = (statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 204;
    if (status === 'drop') request.socket.destroy();
    else response.writeHead(status).end();
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    received,
    connections,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    holdUntil: (opened: Promise<unknown>) => {
      gate = opened;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function aSource(sink: string, options: Partial<ForwarderOptions> = {}) {
  const cluster = new EmbeddedCluster();
  cluster.installCrd();
  const { api } = cluster;
  const mysql = api.kindOf('example.com/v1alpha1', 'Mysql');
  const pod = api.kindOf('v1', 'Pod');
  const forwarded: ForwardedEvent[] = [];
  const pauses: number[] = [];
  const forwarder = new Forwarder({
    api,
    sink,
    source: 'https://127.0.0.1:26443',
    namespace: 'default',
    resources: [{ kind: mysql }, { kind: pod, labelSelector: 'app=mysql' }],
    onForwarded: (event) => forwarded.push(event),
    pause: async (milliseconds) => pauses.push(milliseconds),
    ...options,
  });
  const merge = (kind: typeof pod, name: string, body: JsonObject, subresource?: 'status') =>
    api.patch(kind, 'default', name, 'merge', body, subresource ? { subresource } : {});
  const create = (name: string) =>
    api.create(mysql, 'default', { ...aMysql, metadata: { name, namespace: 'default' } });
  return { cluster, api, mysql, pod, forwarder, forwarded, pauses, merge, create };
}

const aMysql: JsonObject = {
  apiVersion: 'example.com/v1alpha1',
  kind: 'Mysql',
  metadata: { name: 'fx', namespace: 'default' },
  spec: { size: 1, image: 'mysql:8' },
};

/** What was done while the real adapter was listened to, event by event. */
async function theCapturedStory({ cluster, api, mysql, pod, merge, forwarder }: ReturnType<typeof aSource>) {
  api.create(mysql, 'default', aMysql);
  merge(mysql, 'fx', { spec: { size: 2 } });
  merge(mysql, 'fx', { status: { nodes: ['fx-0'] } }, 'status');
  merge(mysql, 'fx', { metadata: { finalizers: ['example.com/f'] } });
  api.delete(mysql, 'default', 'fx');
  merge(mysql, 'fx', { metadata: { finalizers: null } });
  api.create(pod, 'default', {
    metadata: { name: 'fx-pod', labels: { app: 'mysql' } },
    spec: { schedulerName: 'nobody', containers: [{ name: 'c', image: 'x' }] },
  });
  merge(pod, 'fx-pod', { metadata: { annotations: { a: '1' } } });
  merge(pod, 'fx-pod', { status: { phase: 'Running' } }, 'status');
  merge(pod, 'fx-pod', { metadata: { labels: { app: 'other' } } });
  merge(pod, 'fx-pod', { metadata: { labels: { app: 'mysql' } } });
  api.delete(pod, 'default', 'fx-pod');
  cluster.settle();
  await forwarder.idle();
}

const STORY = [
  ...['add', 'spec-update', 'status-update', 'finalizer-add', 'delete-with-finalizer', 'delete'].map(
    (step) => `mysql-${step}`,
  ),
  ...['add', 'update', 'status-update', 'label-leave', 'label-enter', 'delete', 'delete-2'].map(
    (step) => `pod-${step}`,
  ),
];
const FOLDER = new URL('fixtures/adapter/', import.meta.url);
const captured = (mode: string, step: string): Received =>
  JSON.parse(readFileSync(new URL(`${mode}-${step}.json`, FOLDER), 'utf8')) as Received;

/** Values that differ from run to run; how they look must not. */
const SHAPES: Record<string, RegExp> = {
  Host: /^127\.0\.0\.1:\d+$/,
  'Ce-Id': /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  'Ce-Time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{8,9}Z$/,
};
function comparable({ headers, body, ...request }: Received, bodyOf: (text: string) => unknown) {
  const shaped = Object.entries(headers).map(([name, value]) => [
    name,
    SHAPES[name]?.test(value) ? `${SHAPES[name]}` : value,
  ]);
  return { ...request, headers: Object.fromEntries(shaped), body: bodyOf(body) };
}

describe('the captured story', () => {
  test('every fixture belongs to it', () => {
    const names = ['reference', 'resource'].flatMap((mode) => STORY.map((step) => `${mode}-${step}.json`));
    assert.deepEqual(readdirSync(FOLDER).sort(), names.sort());
  });

  test('in Reference mode every request is the captured one, header by header and byte by byte', async () => {
    await using sink = await aSink(204);
    const source = aSource(sink.url);
    await theCapturedStory(source);
    await source.forwarder.stop();
    const byKind = (kind: string) => sink.received.filter(({ headers }) => headers['Ce-Kind'] === kind);
    assert.deepEqual(
      [...byKind('Mysql'), ...byKind('Pod')].map((request) => comparable(request, (body) => body)),
      STORY.map((step) => comparable(captured('reference', step), (body) => body)),
    );
  });

  test('in Resource mode the body is the whole object, managedFields included, keys in the same order', async () => {
    await using sink = await aSink(204);
    const source = aSource(sink.url, { mode: 'Resource' });
    await theCapturedStory(source);
    await source.forwarder.stop();
    const steps = STORY.filter((step) => step.startsWith('mysql'));
    const keys = (body: string) => {
      const object = JSON.parse(body) as {
        metadata: Record<string, unknown>;
        // the CRD of that day had no defaults
        spec: { size: number; image: string };
        status?: object;
      };
      const { managedFields } = object.metadata;
      return [
        Object.keys(object),
        Object.keys(object.metadata),
        [object.spec.size, object.spec.image, object.status],
        Array.isArray(managedFields) && managedFields.map(({ subresource }) => subresource),
      ];
    };
    const withoutLength = ({ headers, ...request }: Received): Received => ({
      ...request,
      headers: { ...headers, 'Content-Length': '' },
    });
    assert.deepEqual(
      sink.received
        .filter(({ headers }) => headers['Ce-Kind'] === 'Mysql')
        .map((request) => comparable(withoutLength(request), keys)),
      steps.map((step) => comparable(withoutLength(captured('resource', step)), keys)),
    );
  });
});

describe('delivery', () => {
  for (const again of [404, 413, 425, 429, 502, 503, 504, 'drop'] as const) {
    test(`${again} is tried six times in about 3 s as one event, then dropped`, async () => {
      await using sink = await aSink(again);
      const { forwarder, forwarded, pauses, create } = aSource(sink.url);
      create('fx');
      await forwarder.idle();
      assert.deepEqual(pauses, [100, 200, 400, 800, 1_600]);
      assert.equal(new Set(sink.received.map(({ headers }) => headers['Ce-Id'])).size, 1);
      assert.equal(sink.received.length, 6);
      const status = again === 'drop' ? 0 : again;
      assert.deepEqual(forwarded, [
        { kind: 'Mysql', namespace: 'default', name: 'fx', verb: 'add', status, tries: 6 },
      ]);
      await forwarder.stop();
    });
  }

  for (const never of [400, 401, 403, 405, 408, 409, 410, 415, 422, 500, 501, 505]) {
    test(`${never} is dropped after one try`, async () => {
      await using sink = await aSink(never);
      const { forwarder, forwarded, create } = aSource(sink.url);
      create('fx');
      await forwarder.idle();
      assert.deepEqual([forwarded[0]?.tries, sink.received.length], [1, 1]);
      await forwarder.stop();
    });
  }

  test('nobody listening is tried six times too', async () => {
    const sink = await aSink(204);
    await sink[Symbol.asyncDispose]();
    const { forwarder, forwarded, create } = aSource(sink.url);
    create('fx');
    await forwarder.idle();
    assert.deepEqual([forwarded[0]?.tries, forwarded[0]?.status], [6, 0]);
    await forwarder.stop();
  });

  test('it ends with the first try that is taken', async () => {
    await using sink = await aSink(503, 503, 204);
    const { forwarder, forwarded, create } = aSource(sink.url);
    create('fx');
    await forwarder.idle();
    assert.deepEqual([forwarded[0]?.tries, forwarded[0]?.status], [3, 204]);
    await forwarder.stop();
  });

  test('is one at a time within a kind, over one connection, while another kind goes by', async () => {
    await using sink = await aSink(204);
    const opened = Promise.withResolvers<void>();
    sink.holdUntil(opened.promise);
    const arrivedPod = Promise.withResolvers<void>();
    const source = aSource(sink.url);
    for (const name of ['a', 'b', 'c']) source.create(name);
    source.api.create(source.pod, 'default', {
      metadata: { name: 'a-0', labels: { app: 'mysql' } },
      spec: { containers: [{ name: 'c', image: 'x' }] },
    });
    const watching = setInterval(() => {
      if (sink.received.length >= 2) arrivedPod.resolve();
    }, 5);
    await arrivedPod.promise;
    clearInterval(watching);
    assert.deepEqual(sink.received.map(({ headers }) => headers['Ce-Name']).sort(), ['a', 'a-0']);
    opened.resolve();
    await source.forwarder.idle();
    const names = sink.received.map(({ headers }) => headers['Ce-Name']);
    assert.deepEqual(
      names.filter((name) => name !== 'a-0'),
      ['a', 'b', 'c'],
    );
    assert.equal(sink.connections.size, 2);
    await source.forwarder.stop();
  });

  test('nothing is told of what exists at the start, nor of what happens after the end; what waits then is lost', async () => {
    await using sink = await aSink(204);
    const source = aSource(sink.url);
    await source.forwarder.stop();
    source.create('before');
    const forwarder = new Forwarder({
      api: source.api,
      sink: sink.url,
      source: 'x',
      resources: [{ kind: source.mysql }],
    });
    const opened = Promise.withResolvers<void>();
    sink.holdUntil(opened.promise);
    source.create('flying');
    source.create('waiting');
    while (sink.received.length === 0) await new Promise(setImmediate);
    const stopped = forwarder.stop();
    opened.resolve();
    await stopped;
    source.create('after');
    assert.deepEqual(
      sink.received.map(({ headers }) => headers['Ce-Name']),
      ['flying'],
    );
  });
});
