/** Requests captured from Knative's real receive adapter go through the function as it runs in production. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { nudge, type Sent } from './server.ts';
import { aWorld, mysqlYaml, type World } from './world.ts';

const FOLDER = new URL('../fixtures/adapter/', import.meta.url);
const captured = readdirSync(FOLDER)
  .sort()
  .map((file) => ({
    name: file.replace('.json', ''),
    sent: JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Sent,
  }));
const ofKind = (kind: string) => captured.filter(({ sent }) => sent.headers?.['Ce-Kind'] === kind);

let world: World;
before(async () => {
  world = await aWorld();
});
after(() => world[Symbol.asyncDispose]());

/** What the function did about one request. */
async function effectOf(sent: Sent) {
  const before = { passes: world.passes.length, requests: world.requests.length };
  const { status, body } = await world.post(sent);
  return {
    answer: `${status}${body}`,
    passes: world.passes.slice(before.passes).map(({ key, pass }) => `${key} ${pass.state}`),
    writes: world.requests.slice(before.requests).filter(({ method }) => method !== 'GET').length,
  };
}

test('both modes and all verbs of both kinds are here', () => {
  const types = new Set(
    captured.map(({ sent }) => `${sent.headers?.['Ce-Kind']} ${sent.headers?.['Ce-Type']}`),
  );
  assert.equal(captured.length, 26);
  assert.equal(types.size, 12);
});

describe('while the Mysql does not exist', () => {
  for (const { name, sent } of ofKind('Mysql')) {
    test(`${name} is one look and no write`, async () => {
      assert.deepEqual(await effectOf(sent), { answer: '204', passes: ['default/fx Gone'], writes: 0 });
    });
  }
});

test('the event of a new Mysql begins what ends Healthy', async () => {
  world.cluster.applyYaml(mysqlYaml('fx'));
  const [add] = ofKind('Mysql');
  assert.equal((await world.post(add?.sent ?? assert.fail())).status, 204);
  await world.until('default/fx', 'Healthy');
  // until a pass finds nothing to do and nothing to wait for
  const quiet = () => world.passes.at(-1)?.pass;
  while (quiet()?.again || quiet()?.writes !== 0) await world.post(nudge('default/fx'));
});

describe('while the Mysql is Healthy', () => {
  for (const { name, sent } of ofKind('Mysql')) {
    test(`${name} is one look and no write, though its body tells of other times`, async () => {
      assert.deepEqual(await effectOf(sent), { answer: '204', passes: ['default/fx Healthy'], writes: 0 });
    });
  }

  test('an event of one of its pods is a look too', async () => {
    const [pod] = ofKind('Pod');
    const headers = { ...pod?.sent.headers, 'Ce-Name': 'fx-1' };
    assert.deepEqual(await effectOf({ ...pod?.sent, headers }), {
      answer: '204',
      passes: ['default/fx Healthy'],
      writes: 0,
    });
  });

  for (const { name, sent } of ofKind('Pod')) {
    test(`${name} is of a pod that no Mysql owns: no look at all`, async () => {
      assert.deepEqual(await effectOf(sent), { answer: '204', passes: [], writes: 0 });
    });
  }
});
