import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GroupModel } from './group/model.ts';
import { nudging } from './nudges.ts';

/** Two members of shop/db and what they have posted since the last look. */
function aWorld() {
  const model = new GroupModel();
  let sent: string[] = [];
  const probe = nudging({
    model,
    every: 10_000,
    send: (namespace, name) => sent.push(`${namespace}/${name}`),
  });
  const [first, second] = ['db-0', 'db-1'].map((pod) =>
    model.start({
      namespace: 'shop',
      cluster: 'db',
      pod,
      host: pod,
      address: pod,
      image: 'mysql:8.4',
      volume: pod,
    }),
  );
  if (!first || !second) throw new Error('two');
  const look = (after = 0) => {
    model.advance(model.now + after);
    sent = [];
    probe(model.now);
    return sent;
  };
  return { model, first, second, look };
}

function aGroup() {
  const world = aWorld();
  const { model, first, second, look } = world;
  model.advance(model.times.start);
  model.bootstrap(first);
  model.join(second, [first.host]);
  look(model.times.recover);
  return world;
}

test('a starting member says nothing, one that is not ONLINE says so, and again after a while', () => {
  const { model, look } = aWorld();
  assert.deepEqual(look(), []);
  assert.deepEqual(look(model.times.start), ['shop/db', 'shop/db']);
  assert.deepEqual(look(9_999), []);
  assert.deepEqual(look(1), ['shop/db', 'shop/db']);
});

test('healthy members are silent', () => {
  const { look } = aGroup();
  assert.deepEqual(look(60_000), []);
});

test('a change of role is news of both', () => {
  const { model, first, second, look } = aGroup();
  model.setPrimary(first, second.volume.uuid);
  assert.deepEqual(look(), ['shop/db', 'shop/db']);
  assert.deepEqual(look(), []);
});

test('a peer that is UNREACHABLE is news before it is expelled', () => {
  const { model, first, second, look } = aGroup();
  model.pause(second);
  assert.deepEqual(look(model.times.unreachable - 1), []);
  assert.equal(first.view?.members.length, 2);
  assert.deepEqual(look(1), ['shop/db']);
});

test('a member that hangs or is gone says nothing', () => {
  const { model, first, second, look } = aGroup();
  model.hang(first);
  model.stop(second);
  assert.deepEqual(look(60_000), []);
});
