/** The API server fails while a cluster is being made: no answer breaks the contract, and in the end nothing is missing or doubled. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Interception } from '../../src/local/api/server.ts';
import { serveApi } from '../../src/local/api/server.ts';
import { nudge } from './server.ts';
import { aWorld, mysqlYaml, type World } from './world.ts';

const KINDS = [
  'v1 Service',
  'v1 Secret',
  'v1 ConfigMap',
  'v1 Pod',
  'v1 PersistentVolumeClaim',
  'apps/v1 StatefulSet',
  'policy/v1 PodDisruptionBudget',
];

const objects = ({ cluster }: World): string[] =>
  KINDS.flatMap((kind) => {
    const [apiVersion = '', name = ''] = kind.split(' ');
    return cluster.api
      .list(cluster.api.kindOf(apiVersion, name), 'default')
      .map((object) => `${name} ${(object.metadata as { name: string }).name}`);
  }).sort();

/** Posts as a patient sender does, until a pass finds nothing to do; every answer must be one of the contract's. */
async function untilQuiet(world: World): Promise<void> {
  for (let sent = 0; sent < 1_000; sent += 1) {
    const since = world.passes.length;
    const { status, body } = await world.post(nudge('default/orders'));
    assert.ok(status === 204 || status === 503, `${status}`);
    assert.equal(body, '');
    const last = world.passes.at(-1)?.pass;
    if (status === 204 && last?.state === 'Healthy' && last.writes === 0 && !last.again) return;
    if (status === 204 && last?.again) await world.until('default/orders', 'Healthy', since);
  }
  assert.fail('it does not become quiet');
}

async function undisturbed(): Promise<string[]> {
  await using world = await aWorld();
  world.cluster.applyYaml(mysqlYaml('orders'));
  await untilQuiet(world);
  return objects(world);
}

const failures: Record<string, Interception> = {
  '409': { status: 409, body: { message: 'conflict' } },
  '429': { status: 429, body: { message: 'later' }, headers: { 'retry-after': '0' } },
  '500': { status: 500, body: { message: 'etcdserver: request timed out' } },
  '503': { status: 503 },
  'a dropped connection': 'drop',
};

describe('every third request fails with', async () => {
  const expected = await undisturbed();
  for (const [what, failure] of Object.entries(failures)) {
    test(what, async () => {
      let count = 0;
      await using world = await aWorld({
        intercept: () => {
          count += 1;
          return count % 3 === 0 && count < 150 ? failure : undefined;
        },
      });
      world.cluster.applyYaml(mysqlYaml('orders'));
      await untilQuiet(world);
      assert.deepEqual(objects(world), expected);
      assert.equal(expected.filter((name) => name.startsWith('Pod ')).length, 3);
    });
  }
});

test('while the API server is gone events are 503, and afterwards they are taken again', async () => {
  await using world = await aWorld();
  world.cluster.applyYaml(mysqlYaml('orders'));
  await untilQuiet(world);
  await world.api.close();
  const answer = await world.post(nudge('default/orders'));
  assert.deepEqual([answer.status, answer.body], [503, '']);
  assert.equal(answer.headers['retry-after'], '1');
  const back = await serveApi(world.cluster.api, { port: world.api.port });
  try {
    assert.equal((await world.post(nudge('default/orders'))).status, 204);
  } finally {
    await back.close();
  }
});

test('a refusal by quota is told on the Mysql and is not a reason to send the event again', async () => {
  await using world = await aWorld({
    intercept: ({ method, path }) =>
      method !== 'GET' && path.includes('/poddisruptionbudgets')
        ? { status: 403, body: { message: 'exceeded quota: budgets' } }
        : undefined,
  });
  world.cluster.applyYaml(mysqlYaml('orders'));
  assert.equal((await world.post(nudge('default/orders'))).status, 204);
  await world.until('default/orders', 'Healthy');
  const mysql = world.cluster.api.get(
    world.cluster.api.kindOf('example.com/v1alpha1', 'Mysql'),
    'default',
    'orders',
  );
  assert.match(JSON.stringify(mysql.status), /exceeded quota: budgets/);
});
