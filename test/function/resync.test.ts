/** The resync against an API server: whom it asks for, how it reads, and how it ends. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { Retryable } from '../../src/errors.ts';
import { KubernetesClient } from '../../src/kubernetes/client.ts';
import { sender } from '../../src/kubernetes/request.ts';
import { serveApi } from '../../src/local/api/server.ts';
import { EmbeddedCluster } from '../../src/local/cluster.ts';
import { refKey } from '../../src/resource/names.ts';
import { type ResyncOptions, resync } from '../../src/resync/resync.ts';
import { hasTurn } from '../../src/resync/schedule.ts';
import { runFunction } from './child.ts';
import { addSettled } from './many.ts';
import { nudge } from './server.ts';
import { aWorld, mysqlYaml, type World } from './world.ts';

const signal = AbortSignal.timeout(30_000);

/** The function makes these Healthy, in namespace default. */
async function aWorldWith(...names: string[]): Promise<World> {
  const world = await aWorld();
  for (const name of names) {
    world.cluster.applyYaml(mysqlYaml(name));
    await world.post(nudge(`default/${name}`));
  }
  for (const name of names) await world.until(`default/${name}`, 'Healthy');
  for (const name of names) {
    // the pass that finds nothing to do; whoever still looks again has not come to it
    while (world.passes.findLast(({ key }) => key === `default/${name}`)?.pass.again)
      await world.post(nudge(`default/${name}`));
  }
  return world;
}

const mysqlKind = ({ cluster: { api } }: World) => api.kindOf('example.com/v1alpha1', 'Mysql');
const uidsOf = (world: World): string[] =>
  world.cluster.api.list(mysqlKind(world)).map((object) => String((object.metadata as { uid: string }).uid));

/** A time at which none of these Mysqls has its hourly turn. */
function quietTime(world: World): Date {
  const times = Array.from({ length: 60 }, (_, minute) => new Date(Date.UTC(2026, 0, 1, 0, minute)));
  return (
    times.find((time) => uidsOf(world).every((uid) => !hasTurn(uid, time, 1))) ??
    assert.fail('no such minute')
  );
}

/** One run; returns whom it asked for. */
async function run(world: World, options: Partial<ResyncOptions> = {}) {
  const asked: string[] = [];
  const send = sender({ server: new URL(world.api.url), options: async () => ({}) });
  const now = quietTime(world);
  const result = await resync(
    {
      cluster: new KubernetesClient({ send, clock: () => now, instance: 'test' }),
      clock: () => now,
      period: 1,
      concurrency: 4,
      all: false,
      onUndelivered: () => undefined,
      post: async (ref) => {
        asked.push(refKey(ref));
        return undefined;
      },
      ...options,
    },
    signal,
  );
  return { asked: asked.sort(), result };
}

test('what is Healthy is proven settled from the lists alone, and nothing is posted', async () => {
  await using world = await aWorldWith('a', 'b');
  const { asked, result } = await run(world);
  assert.deepEqual(asked, []);
  assert.deepEqual(result, { mysqls: 2, settled: 2, delivered: 0, undelivered: 0 });
});

test('a new Mysql, one without its StatefulSet and one whose label was taken off are asked for, the others are not', async () => {
  await using world = await aWorldWith('a', 'b', 'c');
  const { api } = world.cluster;
  world.cluster.applyYaml(mysqlYaml('new'));
  const ofSets = api.kindOf('apps/v1', 'StatefulSet');
  api.delete(ofSets, 'default', 'b', { propagation: 'Orphan' });
  const patch = { metadata: { labels: { 'mysql.example.com/role': null } } };
  api.patch(api.kindOf('v1', 'Pod'), 'default', 'c-0', 'merge', patch);
  const { asked, result } = await run(world);
  assert.deepEqual(asked, ['default/b', 'default/c', 'default/new']);
  assert.deepEqual(result, { mysqls: 4, settled: 1, delivered: 3, undelivered: 0 });
});

test('--all asks for every one, and so does the hour, each in its turn', async () => {
  await using world = await aWorldWith('a', 'b');
  assert.deepEqual((await run(world, { all: true })).asked, ['default/a', 'default/b']);
  const turns: string[] = [];
  for (let minute = 0; minute < 60; minute += 5) {
    const { asked } = await run(world, { period: 5, clock: () => new Date(Date.UTC(2026, 0, 1, 0, minute)) });
    turns.push(...asked);
  }
  assert.deepEqual(turns.sort(), ['default/a', 'default/b']);
});

test('what is being deleted is left to the garbage collector', async () => {
  await using world = await aWorldWith('a');
  const { api } = world.cluster;
  api.patch(mysqlKind(world), 'default', 'a', 'merge', { metadata: { finalizers: ['example.org/theirs'] } });
  api.delete(mysqlKind(world), 'default', 'a');
  assert.deepEqual(await run(world, { all: true }), {
    asked: [],
    result: { mysqls: 0, settled: 0, delivered: 0, undelivered: 0 },
  });
});

test('never more events at once than allowed, and none is lost', async () => {
  await using world = await aWorld();
  const names = Array.from({ length: 30 }, (_, index) => `m${index}`);
  for (const name of names) world.cluster.applyYaml(mysqlYaml(name));
  let underWay = 0;
  let most = 0;
  const { result } = await run(world, {
    post: async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
      return undefined;
    },
  });
  assert.equal(most, 4);
  assert.equal(result.delivered, 30);
});

test('an event that could not be delivered is told and counted, and the others go on', async () => {
  await using world = await aWorld();
  for (const name of ['a', 'b', 'c']) world.cluster.applyYaml(mysqlYaml(name));
  const told: string[] = [];
  const { result } = await run(world, {
    post: async ({ name }) => (name === 'b' ? 'the answer was 503' : undefined),
    onUndelivered: ({ name }, why) => told.push(`${name}: ${why}`),
  });
  assert.deepEqual(told, ['b: the answer was 503']);
  assert.deepEqual(result, { mysqls: 3, settled: 0, delivered: 2, undelivered: 1 });
});

test('without its lists a run fails as something to try again', async () => {
  await using world = await aWorld();
  await world.api.close();
  await assert.rejects(run(world), Retryable);
});

/** The sink of a process: counts events and answers with one status. */
async function aSink(status: number) {
  const subjects: string[] = [];
  const server = createServer((request, response) => {
    subjects.push(String(request.headers['ce-subject']));
    response.writeHead(status, { 'retry-after': '0.01' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    server.close();
    server.closeAllConnections();
  };
  return {
    subjects,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: close,
  };
}

test('as a process it posts to the sink, prints one line of summary and exits 0', async () => {
  await using world = await aWorldWith('a');
  await using sink = await aSink(204);
  await using child = runFunction('resync', {
    args: ['--all'],
    api: world.api.url,
    env: { K_SINK: sink.url },
  });
  assert.equal(await child.ended, 0);
  assert.deepEqual(sink.subjects, ['default/a']);
  const { mysqls, settled, delivered, undelivered, msg, seconds, peakMiB } = JSON.parse(child.output());
  assert.deepEqual(
    { mysqls, settled, delivered, undelivered, msg },
    { mysqls: 1, settled: 0, delivered: 1, undelivered: 0, msg: 'resync ended' },
  );
  assert.ok(seconds > 0 && peakMiB > 0);
});

test('as a process it exits 1 when something was not delivered, and names it', async () => {
  await using world = await aWorldWith('a');
  await using sink = await aSink(503);
  await using child = runFunction('resync', {
    args: ['--all'],
    api: world.api.url,
    env: { K_SINK: sink.url },
  });
  assert.equal(await child.ended, 1);
  assert.equal(sink.subjects.length, 3);
  assert.match(
    child.output(),
    /"cluster":"default\/a","why":"the answer was 503","msg":"event not delivered"/,
  );
  assert.match(child.output(), /"undelivered":1/);
});

test('as a process it says in one line what it lacks: a sink, or the API server', async () => {
  await using lacksSink = runFunction('resync');
  assert.equal(await lacksSink.ended, 2);
  assert.match(lacksSink.output(), /^K_SINK must be the function's address, not ""\n$/);
  await using lacksApi = runFunction('resync', { env: { K_SINK: 'http://127.0.0.1:1/' } });
  assert.equal(await lacksApi.ended, 1);
  assert.match(lacksApi.output(), /^GET \/.*ECONNREFUSED.*\n$/);
});

test('ten thousand Mysqls with thirty thousand pods go by in a heap that could not hold them', async () => {
  const cluster = new EmbeddedCluster();
  cluster.installCrd();
  addSettled(cluster.api, 10_000);
  await using cleanup = new AsyncDisposableStack();
  const api = await serveApi(cluster.api);
  cleanup.defer(() => api.close());
  await using sink = await aSink(204);
  await using child = runFunction('resync', {
    api: api.url,
    // their JSON alone is some 100 MB
    env: { K_SINK: sink.url, NODE_OPTIONS: '--max-old-space-size=48 --max-semi-space-size=4' },
  });
  assert.equal(await child.ended, 0, child.output());
  const { mysqls, settled, delivered } = JSON.parse(child.output());
  assert.equal(mysqls, 10_000);
  // the rest had its hourly turn
  assert.ok(settled > 8_500 && delivered === mysqls - settled, child.output());
});
