import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ConfigMap } from 'kubernetes-types/core/v1.d.ts';
import type { Action, Verdict } from '../decide/verdict.ts';
import { Retryable } from '../errors.ts';
import { identityOf } from '../kubernetes/cluster.ts';
import { ModelMembers } from '../local/group/members.ts';
import type { Member } from '../mysql/members.ts';
import { observe, type Sources } from '../observe/observe.ts';
import type { Observed } from '../observe/observed.ts';
import { memberOf } from '../observe/pods.ts';
import { aSettledStage, REF, type Stage, signal } from '../testing.ts';
import { apply } from './apply.ts';

const verdict = (...actions: Action[]): Verdict => ({
  state: 'Healthy',
  message: '',
  transitional: false,
  actions,
});
const carryOut = (stage: Stage, observed: Observed, actions: Action[], sources: Partial<Sources> = {}) =>
  apply(verdict(...actions), observed, { ...stage.ports, ...sources }, signal());

async function look({ ports }: Stage): Promise<Observed> {
  const observed = await observe(REF, ports, signal());
  assert.ok(observed);
  return observed;
}

function memberIn(observed: Observed, ordinal: number): Member {
  const pod = observed.pods[ordinal];
  const member = pod && memberOf(observed.mysql, pod);
  assert.ok(member);
  return member;
}

function podIn(observed: Observed, ordinal: number) {
  const pod = observed.pods[ordinal];
  assert.ok(pod);
  return identityOf('Pod', pod);
}

const configMap = (name: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: REF.namespace },
  data: { a: '1' },
});
const newMap = (name: string): Action => ({
  do: 'apply',
  kind: 'ConfigMap',
  object: configMap(name),
  live: undefined,
});

describe('each action is the call of its name:', () => {
  test('apply and create', async () => {
    await using stage = await aSettledStage();
    const create: Action = { do: 'create', kind: 'ConfigMap', object: configMap('created') };
    const applied = await carryOut(stage, await look(stage), [newMap('applied'), create]);
    assert.deepEqual(applied, { writes: 2, failures: [] });
    assert.ok(stage.live('ConfigMap', 'applied'));
    assert.ok(stage.live('ConfigMap', 'created'));
  });

  test('delete, of that very pod', async () => {
    await using stage = await aSettledStage();
    const observed = await look(stage);
    const target = podIn(observed, 1);
    await carryOut(stage, observed, [{ do: 'delete', target, orphan: false, why: '' }]);
    stage.cluster.settle();
    assert.notEqual(stage.live('Pod', 'db-1').metadata.uid, target.uid);
  });

  test('relabel, of that very pod, and whoever set the labels', async () => {
    await using stage = await aSettledStage();
    const kind = stage.cluster.api.kindOf('v1', 'Pod');
    stage.cluster.api.patch(kind, REF.namespace, 'db-1', 'merge', { metadata: { labels: { theirs: 'x' } } });
    const target = podIn(await look(stage), 1);
    const relabel: Action = { do: 'relabel', target, labels: { theirs: null, ours: 'y' } };
    const observed = await look(stage);
    assert.equal((await carryOut(stage, observed, [relabel])).writes, 1);
    const { labels } = stage.live('Pod', 'db-1').metadata;
    assert.deepEqual([labels.theirs, labels.ours], [undefined, 'y']);
    const again = await carryOut(stage, observed, [relabel]);
    assert.deepEqual(
      again.failures.map((failure) => failure.name),
      ['Retryable'],
    );
  });

  test('removeAnnotations', async () => {
    await using stage = await aSettledStage();
    const kind = stage.cluster.api.kindOf('example.com/v1alpha1', 'Mysql');
    stage.cluster.api.patch(kind, REF.namespace, REF.name, 'merge', {
      metadata: { annotations: { gone: 'x', stays: 'x' } },
    });
    const observed = await look(stage);
    const target = identityOf('Mysql', observed.mysql);
    await carryOut(stage, observed, [{ do: 'removeAnnotations', target, keys: ['gone'] }]);
    assert.deepEqual(stage.live('Mysql').metadata.annotations, { stays: 'x' });
  });

  test('setPrimary', async () => {
    await using stage = await aSettledStage();
    const observed = await look(stage);
    const [via, target] = [memberIn(observed, 0), memberIn(observed, 2)];
    await carryOut(stage, observed, [{ do: 'setPrimary', via, target, uuid: stage.server(2).volume.uuid }]);
    assert.equal(stage.server(2).role, 'PRIMARY');
  });

  test('leave, join, rebuild and bootstrap', async () => {
    await using stage = await aSettledStage();
    const observed = await look(stage);
    const member = memberIn(observed, 2);
    const donor = memberIn(observed, 1);
    const run = async (action: Action) => {
      assert.deepEqual(await carryOut(stage, observed, [action]), { writes: 1, failures: [] });
    };
    await run({ do: 'leave', member, why: '' });
    assert.equal(stage.server(2).state, 'OFFLINE');
    await run({ do: 'rebuild', member, donor });
    assert.ok(stage.server(2).cloning);
    stage.cluster.model.advance(stage.ports.clock().getTime() + 20_000);
    await run({ do: 'join', member, seeds: [donor] });
    assert.equal(stage.server(2).state, 'RECOVERING');
    for (const ordinal of [0, 1, 2]) await run({ do: 'leave', member: memberIn(observed, ordinal), why: '' });
    await run({ do: 'bootstrap', member, expected: '' });
    assert.equal(stage.server(2).role, 'PRIMARY');
  });
});

describe('a failing action', () => {
  test('does not keep the others from being tried, and is not counted', async () => {
    await using stage = await aSettledStage();
    stage.intercept = ({ path }) =>
      path.endsWith('/b') ? { status: 403, body: { message: 'exceeded quota' } } : undefined;
    const applied = await carryOut(stage, await look(stage), [newMap('a'), newMap('b'), newMap('c')]);
    assert.equal(applied.writes, 2);
    assert.deepEqual(
      applied.failures.map(({ name, message }) => [name, /exceeded quota/.test(message)]),
      [['Permanent', true]],
    );
    assert.ok(stage.live('ConfigMap', 'a'));
    assert.ok(stage.live('ConfigMap', 'c'));
  });

  test('of a kind that nobody expected is one that may pass', async () => {
    await using stage = await aSettledStage();
    class Broken extends ModelMembers {
      override async leave(): Promise<void> {
        throw new TypeError('a bug');
      }
    }
    const observed = await look(stage);
    const members = new Broken(stage.cluster.model);
    const applied = await carryOut(
      stage,
      observed,
      [{ do: 'leave', member: memberIn(observed, 0), why: '' }],
      { members },
    );
    assert.equal(applied.failures[0]?.name, 'Retryable');
    assert.match(applied.failures[0]?.message ?? '', /a bug/);
  });
});

test('objects are written one after the other, in the order of the verdict', async () => {
  await using stage = await aSettledStage();
  let open = 0;
  let most = 0;
  stage.intercept = async () => {
    open += 1;
    most = Math.max(most, open);
    await new Promise(setImmediate);
    open -= 1;
    return undefined;
  };
  const observed = await look(stage);
  stage.requests.length = 0;
  most = 0;
  await carryOut(stage, observed, [newMap('c'), newMap('a'), newMap('b')]);
  assert.deepEqual(
    stage.requests.map(({ path }) => path.split('/').at(-1)),
    ['c', 'a', 'b'],
  );
  assert.equal(most, 1);
});

test('orders to members are given side by side: one that takes long does not hold up the others', async () => {
  await using stage = await aSettledStage();
  const both = Promise.withResolvers<void>();
  let asked = 0;
  class Slow extends ModelMembers {
    override async leave(): Promise<void> {
      asked += 1;
      if (asked === 2) both.resolve();
      await both.promise;
    }
  }
  const observed = await look(stage);
  const leave = (ordinal: number): Action => ({ do: 'leave', member: memberIn(observed, ordinal), why: '' });
  const members = new Slow(stage.cluster.model);
  assert.equal((await carryOut(stage, observed, [leave(1), leave(2)], { members })).writes, 2);
});

describe('five seconds after the look', () => {
  const DISRUPTIVE = ['bootstrap', 'leave', 'rebuild', 'setPrimary', 'delete'] as const;

  function anAction(what: (typeof DISRUPTIVE)[number] | 'join', stage: Stage, observed: Observed): Action {
    const [first, member] = [memberIn(observed, 0), memberIn(observed, 1)];
    switch (what) {
      case 'bootstrap':
        return { do: what, member, expected: '' };
      case 'leave':
        return { do: what, member, why: '' };
      case 'rebuild':
        return { do: what, member, donor: first };
      case 'setPrimary':
        return { do: what, via: first, target: member, uuid: stage.server(1).volume.uuid };
      case 'delete':
        return { do: what, target: podIn(observed, 1), orphan: false, why: '' };
      case 'join':
        return { do: what, member, seeds: [first] };
      default:
        return what satisfies never;
    }
  }

  for (const what of DISRUPTIVE) {
    test(`${what} is refused: a process that was frozen must look again`, async () => {
      await using stage = await aSettledStage();
      const observed = await look(stage);
      stage.advance(5_001);
      const applied = await carryOut(stage, observed, [anAction(what, stage, observed)]);
      assert.equal(applied.writes, 0);
      assert.ok(applied.failures[0] instanceof Retryable);
      assert.match(applied.failures[0].message, /5001 ms old/);
      assert.equal(stage.server(0).role, 'PRIMARY');
      assert.equal(stage.server(1).state, 'ONLINE');
    });
  }

  test('what disturbs nobody is still done', async () => {
    await using stage = await aSettledStage();
    const observed = await look(stage);
    stage.advance(5_001);
    const applied = await carryOut(stage, observed, [newMap('late'), anAction('join', stage, observed)]);
    assert.deepEqual(applied, { writes: 2, failures: [] });
  });

  test('not a moment earlier', async () => {
    await using stage = await aSettledStage();
    const observed = await look(stage);
    stage.advance(5_000);
    assert.equal((await carryOut(stage, observed, [anAction('setPrimary', stage, observed)])).writes, 1);
  });
});

test('no group is started when a last look finds a member in one', async () => {
  await using stage = await aSettledStage();
  for (const ordinal of [0, 1, 2]) stage.cluster.model.leave(stage.server(ordinal));
  const observed = await look(stage);
  stage.cluster.model.bootstrap(stage.server(2));
  const applied = await carryOut(stage, observed, [
    { do: 'bootstrap', member: memberIn(observed, 0), expected: '' },
  ]);
  assert.match(applied.failures[0]?.message ?? '', /db-2 is in a group by now/);
  assert.equal(stage.server(0).state, 'OFFLINE');
  assert.deepEqual(stage.cluster.model.violations, []);
});

test('without accounts no order is given, and objects are still written', async () => {
  await using stage = await aSettledStage();
  const observed = { ...(await look(stage)), access: undefined };
  const applied = await carryOut(stage, observed, [
    newMap('a'),
    { do: 'leave', member: memberIn(observed, 1), why: '' },
  ]);
  assert.equal(applied.writes, 1);
  assert.deepEqual(
    applied.failures.map((failure) => failure.name),
    ['Retryable'],
  );
  assert.equal(stage.server(1).state, 'ONLINE');
});
