import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Api } from './api.ts';
import { textAt } from './json.ts';
import { listPage } from './list.ts';
import { everything } from './selectors.ts';
import { Store } from './store.ts';
import { watch } from './watch.ts';

/** With `count` ConfigMaps. */
function anApi(count: number, historyLimit?: number) {
  const api = new Api({ store: new Store(historyLimit) });
  api.create(api.kindOf('v1', 'Namespace'), '', { metadata: { name: 'ns' } });
  const kind = api.kindOf('v1', 'ConfigMap');
  const create = (name: string) => api.create(kind, 'ns', { metadata: { name } });
  for (let n = 0; n < count; n += 1) create(`a-${n}`);
  return { api, kind, create };
}
const query = { namespace: 'ns', matches: everything, initialEvents: false };
const page = { namespace: 'ns', matches: undefined, limit: 2 };

test('a watch from before a compaction is expired and tells nothing; from after it, all goes on', () => {
  const { api, kind, create } = anApi(2);
  const before = `${api.store.version}`;
  create('b');
  api.store.compact();
  const seen: string[] = [];
  const from = (resourceVersion: string) =>
    watch(api, kind, { ...query, resourceVersion }, ({ type, object }) => {
      seen.push(`${type} ${textAt(object, 'metadata', 'name')}`);
    });
  assert.throws(() => from(before), { reason: 'Expired', code: 410 });
  const stop = from(`${api.store.version}`);
  create('c');
  stop();
  create('d');
  assert.deepEqual(seen, ['ADDED c']);
});

test('a long history forgets its beginning', () => {
  const { api, create } = anApi(0, 3);
  const { version } = api.store;
  for (const name of ['a', 'b', 'c']) create(name);
  assert.equal(api.store.since(version).length, 3);
  create('d');
  assert.throws(() => api.store.since(version), { reason: 'Expired' });
});

test('a page that was asked for before a compaction is expired', () => {
  const { api, kind } = anApi(5);
  const first = listPage(api, kind, { ...page, continueToken: undefined });
  assert.deepEqual([first.items.length, first.remaining], [2, 3]);
  const second = listPage(api, kind, { ...page, continueToken: first.next });
  assert.equal(second.resourceVersion, first.resourceVersion);
  api.create(kind, 'ns', { metadata: { name: 'z' } });
  api.store.compact();
  assert.throws(() => listPage(api, kind, { ...page, continueToken: second.next }), { reason: 'Expired' });
});

test('a page goes on after its last object, whatever came and went meanwhile', () => {
  const { api, kind, create } = anApi(4);
  const first = listPage(api, kind, { ...page, continueToken: undefined });
  api.delete(kind, 'ns', 'a-0');
  create('a');
  const second = listPage(api, kind, { ...page, continueToken: first.next });
  assert.deepEqual(
    second.items.map((object) => textAt(object, 'metadata', 'name')),
    ['a-2', 'a-3'],
  );
});
