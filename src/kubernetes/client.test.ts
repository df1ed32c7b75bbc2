import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { ConfigMap } from 'kubernetes-types/core/v1.d.ts';
import { Permanent, Retryable } from '../errors.ts';
import { type ApiServer, type Interception, serveApi } from '../local/api/server.ts';
import { Store } from '../local/api/store.ts';
import { EmbeddedCluster } from '../local/cluster.ts';
import type { Mysql } from '../resource/mysql.ts';
import { KubernetesClient } from './client.ts';
import { identityOf } from './cluster.ts';
import { sender } from './request.ts';

let embedded: EmbeddedCluster;
let api: ApiServer;
let client: KubernetesClient;
let intercept: ((request: { method: string; path: string }) => Interception | undefined) | undefined;
const signal = AbortSignal.timeout(60_000);

before(async () => {
  // a short history, so that continue tokens expire soon
  embedded = new EmbeddedCluster({ store: new Store(50) });
  embedded.installCrd();
  api = await serveApi(embedded.api, { intercept: (request) => intercept?.(request) });
  client = new KubernetesClient({
    send: sender({ server: new URL(api.url), options: async () => ({}) }),
    clock: () => new Date('2026-01-02T03:04:05.678Z'),
    instance: 'test',
  });
});
after(() => api.close());
beforeEach(() => {
  intercept = undefined;
});

let count = 0;
const freshName = (): string => {
  count += 1;
  return `uid-${count}`;
};
const configMap = (
  name: string,
  data: Record<string, string>,
  labels: Record<string, string> = {},
): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', labels },
  data,
});
const aConfigMap = async (data: Record<string, string> = { a: '1' }, labels: Record<string, string> = {}) =>
  client.create('ConfigMap', configMap(freshName(), data, labels), signal);
const aMysql = (annotations: Record<string, string> = {}): Promise<Mysql> =>
  client.create(
    'Mysql',
    {
      apiVersion: 'example.com/v1alpha1',
      kind: 'Mysql',
      metadata: { name: `m${freshName()}`, namespace: 'default', annotations },
      spec: { size: 1, image: 'mysql:8.4' },
    },
    signal,
  );
const nameOf = (object: { metadata?: { name?: string } }): string =>
  object.metadata?.name ?? assert.fail('no name');
const live = (object: ConfigMap) => client.get('ConfigMap', 'default', nameOf(object), signal);
const recreated = async (object: ConfigMap): Promise<ConfigMap> => {
  await client.delete(identityOf('ConfigMap', object), { orphan: false }, signal);
  return client.create('ConfigMap', configMap(nameOf(object), { other: 'incarnation' }), signal);
};
const status = { nodes: ['a'], observedGeneration: 1 };

describe('reading', () => {
  test('an absent object is undefined', async () => {
    assert.equal(await client.get('ConfigMap', 'default', 'absent', signal), undefined);
  });

  test('a list has what carries every label, each item with its kind', async () => {
    const one = await aConfigMap({}, { app: 'x', role: 'y' });
    await aConfigMap({}, { app: 'x' });
    const found = await client.list('ConfigMap', 'default', { app: 'x', role: 'y' }, signal);
    assert.deepEqual(found.map(nameOf), [nameOf(one)]);
    assert.equal(found[0]?.kind, 'ConfigMap');
    assert.equal(found[0]?.apiVersion, 'v1');
  });

  const pageSizes = async (
    labels: Record<string, string>,
    between: () => Promise<unknown> = async () => undefined,
  ) => {
    const names: string[][] = [];
    for await (const page of client.pages('ConfigMap', { labels, limit: 2 }, signal)) {
      names.push(page.map(nameOf));
      await between();
    }
    return names;
  };

  test('pages give everything, a few at a time', async () => {
    const labels = { app: 'paged' };
    for (let index = 0; index < 5; index += 1) await aConfigMap({}, labels);
    const pages = await pageSizes(labels);
    assert.deepEqual(
      pages.map((page) => page.length),
      [2, 2, 1],
    );
    assert.equal(new Set(pages.flat()).size, 5);
    assert.deepEqual(await pageSizes({ app: 'nobody' }), [[]]);
  });

  test('when the token for the next page has expired it begins again: none is missed', async () => {
    const labels = { app: 'expiring' };
    const all = [];
    for (let index = 0; index < 5; index += 1) all.push(nameOf(await aConfigMap({}, labels)));
    let expired = false;
    const pages = await pageSizes(labels, async () => {
      if (expired) return;
      expired = true;
      for (let write = 0; write < 60; write += 1) await aConfigMap();
    });
    assert.deepEqual([...new Set(pages.flat())].sort(), all.sort());
    assert.equal(pages.flat().length, 7);
  });
});

describe('applying', () => {
  test('without a live object it creates one', async () => {
    const wanted = configMap(freshName(), { a: '1' });
    const made = await client.apply('ConfigMap', wanted, undefined, signal);
    assert.ok(made.metadata?.uid);
    assert.deepEqual((await live(wanted))?.data, { a: '1' });
  });

  test('without a live object it does not take over what somebody else has set', async () => {
    const name = freshName();
    embedded.applyYaml(JSON.stringify(configMap(name, { a: 'theirs' })));
    const wanted = configMap(name, { a: 'ours' });
    await assert.rejects(client.apply('ConfigMap', wanted, undefined, signal), Retryable);
    assert.deepEqual((await live(wanted))?.data, { a: 'theirs' });
  });

  test('with the live object it changes that one, and takes back what others changed', async () => {
    const made = await client.apply(
      'ConfigMap',
      configMap(freshName(), { a: '1', b: '1' }),
      undefined,
      signal,
    );
    embedded.applyYaml(JSON.stringify(configMap(nameOf(made), { a: 'edited' })));
    const edited = (await live(made)) ?? assert.fail();
    await client.apply(
      'ConfigMap',
      configMap(nameOf(made), { a: '2' }),
      identityOf('ConfigMap', edited),
      signal,
    );
    assert.deepEqual((await live(made))?.data, { a: '2' });
  });

  test('an object that changed since it was read, was replaced or is gone is left alone and looked at again', async () => {
    const read = await client.apply('ConfigMap', configMap(freshName(), { a: '1' }), undefined, signal);
    const apply = () =>
      client.apply('ConfigMap', configMap(nameOf(read), { a: '2' }), identityOf('ConfigMap', read), signal);
    const second = await client.apply(
      'ConfigMap',
      configMap(nameOf(read), { a: '3' }),
      identityOf('ConfigMap', read),
      signal,
    );
    await assert.rejects(apply(), Retryable);
    const other = await recreated(second);
    await assert.rejects(apply(), Retryable);
    assert.deepEqual((await live(read))?.data, { other: 'incarnation' });
    await client.delete(identityOf('ConfigMap', other), { orphan: false }, signal);
    await assert.rejects(apply(), Retryable);
    assert.equal(await live(read), undefined);
  });

  test('the version of another incarnation is no licence', async () => {
    const old = await aConfigMap();
    const other = await recreated(old);
    const mixed = { ...identityOf('ConfigMap', other), uid: old.metadata?.uid ?? '' };
    const wanted = configMap(nameOf(old), { a: '2' });
    await assert.rejects(client.apply('ConfigMap', wanted, mixed, signal), Retryable);
    await assert.rejects(client.delete(mixed, { orphan: false }, signal), Retryable);
    assert.deepEqual((await live(old))?.data, { other: 'incarnation' });
  });

  test('what validation refuses is permanent, whatever the object is called', async () => {
    const mysql = await aMysql();
    const wrong = {
      ...mysql,
      metadata: { name: nameOf(mysql), namespace: 'default' },
      spec: { size: 99, image: 'x' },
    };
    await assert.rejects(client.apply('Mysql', wrong, identityOf('Mysql', mysql), signal), (error) => {
      assert.ok(error instanceof Permanent);
      assert.match(error.message, /spec\.size/);
      return true;
    });
  });
});

test('creating what exists is to be looked at again, and overwrites nothing', async () => {
  const made = await aConfigMap({ a: '1' });
  await assert.rejects(client.create('ConfigMap', configMap(nameOf(made), { a: '2' }), signal), Retryable);
  assert.deepEqual((await live(made))?.data, { a: '1' });
});

describe('the status', () => {
  test('is applied on exactly what was read, without touching the spec', async () => {
    const mysql = await aMysql();
    const told = await client.applyStatus(identityOf('Mysql', mysql), status, signal);
    assert.deepEqual(told.status?.nodes, ['a']);
    assert.equal(told.metadata.generation, mysql.metadata.generation);
    await assert.rejects(
      client.applyStatus(identityOf('Mysql', mysql), { ...status, nodes: [] }, signal),
      Retryable,
    );
  });

  test('loses what is not told any more', async () => {
    const first = await client.applyStatus(
      identityOf('Mysql', await aMysql()),
      { ...status, primary: 'a' },
      signal,
    );
    const second = await client.applyStatus(identityOf('Mysql', first), status, signal);
    assert.equal(second.status?.primary, undefined);
  });
});

test('labels and annotations are set on and removed from what was read, whoever set them; the others stay', async () => {
  const mysql = await aMysql({ a: '1', b: '2' });
  const marks = { labels: { role: 'x' }, annotations: { a: null, absent: null } };
  await client.patchMetadata(identityOf('Mysql', mysql), marks, signal);
  const now = (await client.get('Mysql', 'default', nameOf(mysql), signal)) ?? assert.fail();
  assert.deepEqual(now.metadata.annotations, { b: '2' });
  assert.deepEqual(now.metadata.labels, { role: 'x' });
  await assert.rejects(client.patchMetadata(identityOf('Mysql', mysql), marks, signal), Retryable);
});

describe('deleting', () => {
  test('touches that incarnation only', async () => {
    const old = await aConfigMap();
    const other = await recreated(old);
    await assert.rejects(client.delete(identityOf('ConfigMap', old), { orphan: false }, signal), Retryable);
    assert.equal((await live(old))?.metadata?.uid, other.metadata?.uid);
  });

  test('touches nothing that changed since it was read', async () => {
    const made = await aConfigMap();
    embedded.applyYaml(JSON.stringify(configMap(nameOf(made), { edited: 'meanwhile' })));
    await assert.rejects(client.delete(identityOf('ConfigMap', made), { orphan: false }, signal), Retryable);
    assert.ok(await live(made));
  });

  test('what is gone already is a success', async () => {
    const made = await aConfigMap();
    await client.delete(identityOf('ConfigMap', made), { orphan: false }, signal);
    await client.delete(identityOf('ConfigMap', made), { orphan: false }, signal);
  });

  test('orphans the dependents only when asked to', async () => {
    for (const orphan of [true, false]) {
      const owner = await aConfigMap();
      const reference = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: nameOf(owner),
        uid: owner.metadata?.uid ?? '',
      };
      const dependent = configMap(freshName(), {});
      const metadata = { ...dependent.metadata, ownerReferences: [reference] };
      await client.create('ConfigMap', { ...dependent, metadata }, signal);
      await client.delete(identityOf('ConfigMap', owner), { orphan }, signal);
      embedded.settle();
      assert.equal((await live(dependent)) !== undefined, orphan);
    }
  });
});

test('an announcement is an Event on the Mysql, with microseconds and a note that fits', async () => {
  const mysql = await aMysql();
  const note = `x${'ä'.repeat(2_000)}`;
  await client.announce(
    { regarding: mysql, type: 'Warning', reason: 'QuorumLost', action: 'Observe', note },
    signal,
  );
  const [event, ...others] = await client.events('Mysql', 'default', nameOf(mysql), signal);
  assert.deepEqual(others, []);
  assert.equal(event?.reason, 'QuorumLost');
  assert.equal(event?.type, 'Warning');
  assert.equal(event?.involvedObject.uid, mysql.metadata.uid);
  assert.equal(event?.eventTime, '2026-01-02T03:04:05.678000Z');
  // the API counts bytes
  assert.equal(event?.message, `x${'ä'.repeat(510)}…`);
  assert.equal(Buffer.byteLength(event?.message ?? ''), 1_024);
});

describe('when the API server fails', () => {
  const failures: [string, Interception][] = [
    ['409', { status: 409, body: { message: 'conflict' } }],
    ['429', { status: 429, body: { message: 'later' } }],
    ['500', { status: 500, body: { message: 'etcdserver: request timed out' } }],
    ['503', { status: 503 }],
    ['504', { status: 504 }],
    ['a dropped connection', 'drop'],
  ];
  for (const [what, failure] of failures) {
    test(`${what} is something to try again, for every call`, async () => {
      const mysql = await aMysql();
      const identity = identityOf('Mysql', mysql);
      const calls: Record<string, () => Promise<unknown>> = {
        get: () => client.get('Mysql', 'default', 'a', signal),
        list: () => client.list('Pod', 'default', {}, signal),
        pages: () => client.pages('Pod', { limit: 1 }, signal)[Symbol.asyncIterator]().next(),
        events: () => client.events('StatefulSet', 'default', 'a', signal),
        apply: () => client.apply('Mysql', mysql, identity, signal),
        create: () => client.create('ConfigMap', configMap('a', {}), signal),
        applyStatus: () => client.applyStatus(identity, status, signal),
        patchMetadata: () => client.patchMetadata(identity, { annotations: { a: null } }, signal),
        delete: () => client.delete(identity, { orphan: false }, signal),
        announce: () =>
          client.announce({ regarding: mysql, type: 'Normal', reason: 'A', action: 'B', note: '' }, signal),
      };
      intercept = () => failure;
      for (const [name, call] of Object.entries(calls)) await assert.rejects(call(), Retryable, name);
    });
  }

  test('a refusal by RBAC or quota is permanent and says why', async () => {
    intercept = () => ({ status: 403, body: { message: 'exceeded quota: services' } });
    await assert.rejects(aConfigMap(), (error) => {
      assert.ok(error instanceof Permanent);
      assert.match(error.message, /exceeded quota: services/);
      return true;
    });
  });
});
