/**
 * Requests that an API server does not take, and those that it takes without doing anything. The same file runs against the embedded API
 * and, with CONTRACT_KUBECONFIG, against a real one.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { anEndpoint, type Endpoint } from '../endpoint.ts';
import { type RawRequest, type Wire, wireTo } from './http.ts';
import { APPLY, configMap, freshName, MERGE } from './objects.ts';

let endpoint: Endpoint;
let wire: Wire;
before(async () => {
  endpoint = await anEndpoint();
  wire = await wireTo(endpoint.kubeconfig);
});
after(() => endpoint?.[Symbol.asyncDispose]());

const core = (plural: string, name = '') =>
  `/api/v1/namespaces/${endpoint.namespace}/${plural}${name && `/${name}`}`;
async function made(body: { readonly metadata: { readonly name: string } }): Promise<string> {
  const reply = await wire.call('POST', core('configmaps'), { body });
  assert.equal(reply.status, 201, JSON.stringify(reply.body));
  return core('configmaps', body.metadata.name);
}
async function assertRefused(
  method: string,
  path: string,
  request: RawRequest,
  status: number,
  message: RegExp,
): Promise<void> {
  const { status: found, body } = await wire.call(method, path, request);
  assert.equal(found, status, JSON.stringify(body));
  assert.equal(body.kind, 'Status');
  assert.equal(body.code, status);
  assert.match(body.message, message);
}

describe('a body that is meant for another object than the address', () => {
  const names = /^the name of the object \(other\) does not match the name on the URL \(c-\d+\)$/;
  const spaces = /^the namespace of the provided object does not match the namespace sent on the request$/;
  const elsewhere = { namespace: 'elsewhere' };

  test('is refused by create, update, patch and apply', async () => {
    const name = freshName();
    const path = await made(configMap(name));
    const other = configMap('other');
    const apply = { type: APPLY, query: { fieldManager: 'ours' } };
    await assertRefused('PUT', path, { body: other }, 400, names);
    await assertRefused('PATCH', path, { ...apply, body: other }, 400, names);
    await assertRefused('PATCH', path, { type: MERGE, body: { metadata: { name: 'other' } } }, 400, names);
    await assertRefused('PUT', path, { body: configMap(name, {}, elsewhere) }, 400, spaces);
    await assertRefused('POST', core('configmaps'), { body: configMap('x', {}, elsewhere) }, 400, spaces);
  });

  test('or of another kind', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } };
    await assertRefused('POST', core('configmaps'), { body: secret }, 400, /Secret/);
  });
});

describe('what cannot be read', () => {
  test('is told with 400', async () => {
    for (const body of ['{"apiVersion"', '', '[]'])
      await assertRefused('POST', core('configmaps'), { body }, 400, /./);
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, data: { a: '***' } };
    await assertRefused('POST', core('secrets'), { body: secret }, 400, /illegal base64 data/);
    const annotated = configMap('x', {}, { annotations: { a: 1 } });
    await assertRefused('POST', core('configmaps'), { body: annotated }, 400, /cannot unmarshal number/);
  });

  test('a selector that is none, or that no index knows, is a 400 too', async () => {
    for (const [query, message] of [
      [{ labelSelector: 'a in b' }, /unable to parse requirement/],
      [{ fieldSelector: 'data.a=1' }, /data\.a/],
      [{ limit: '1', continue: 'nowhere' }, /continue key is not valid/],
    ] as const)
      await assertRefused('GET', core('configmaps'), { query }, 400, message);
  });
});

describe('names and labels', () => {
  const post = (body: object) => ['POST', core('configmaps'), { body }, 422] as const;

  test('are held to their forms', async () => {
    await assertRefused(
      ...post(configMap('Capital')),
      /^ConfigMap "Capital" is invalid: metadata\.name: Invalid value: "Capital": a lowercase RFC 1123 subdomain must consist of .* and must start and end with an alphanumeric character \(e\.g\. 'example\.com', regex used for validation is /,
    );
    await assertRefused(...post(configMap('x'.repeat(254))), /": must be no more than 253 characters$/);
    await assertRefused(
      ...post(configMap('')),
      /metadata\.name: Required value: name or generateName is required$/,
    );
    await assertRefused(
      ...post(configMap('x', {}, { labels: { a: '-' } })),
      /metadata\.labels: Invalid value: "-": a valid label must be an empty string or consist of /,
    );
    const service = (name: string) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { ports: [{ port: 1 }] },
    });
    await assertRefused('POST', core('services'), { body: service('1a') }, 422, /a DNS-1035 label must/);
  });
});

describe('versions and managers', () => {
  test('are the server’s to give', async () => {
    const versioned = configMap('x', {}, { resourceVersion: '5' });
    const message = /^resourceVersion should not be set on objects to be created$/;
    await assertRefused('POST', core('configmaps'), { body: versioned }, 500, message);
    const managed = configMap('x', {}, { managedFields: [{}] });
    const apply = { type: APPLY, query: { fieldManager: 'ours' }, body: managed };
    await assertRefused(
      'PATCH',
      core('configmaps', 'x'),
      apply,
      400,
      /^metadata\.managedFields must be nil$/,
    );
  });

  test('a PodDisruptionBudget is updated by version only', async () => {
    const path = `/apis/policy/v1/namespaces/${endpoint.namespace}/poddisruptionbudgets`;
    const name = freshName();
    const budget = (minAvailable: number, metadata: object = {}) => ({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name, ...metadata },
      spec: { minAvailable, selector: { matchLabels: { a: 'b' } } },
    });
    await wire.call('POST', path, { body: budget(1) });
    await assertRefused(
      'PUT',
      `${path}/${name}`,
      { body: budget(2) },
      422,
      /must be specified for an update$/,
    );
    // a real cluster's controller writes the status meanwhile
    let status: number;
    do {
      const { resourceVersion } = (await wire.call('GET', `${path}/${name}`)).body.metadata;
      ({ status } = await wire.call('PUT', `${path}/${name}`, { body: budget(2, { resourceVersion }) }));
    } while (status === 409);
    assert.equal(status, 200);
  });
});

test('a verb that an address does not have is a 405', async () => {
  const path = await made(configMap(freshName()));
  const message = /^the server does not allow this method on the requested resource$/;
  await assertRefused('PUT', core('configmaps'), { body: configMap('x') }, 405, message);
  await assertRefused('POST', path, { body: configMap('x') }, 405, message);
});

test('a JSON Patch of what is not there is a 422', async () => {
  const path = await made(configMap(freshName()));
  const body = [{ op: 'remove', path: '/data/nothing' }];
  const message = /^the server rejected our request due to an error in our request$/;
  await assertRefused('PATCH', path, { type: 'application/json-patch+json', body }, 422, message);
});

test('a dry run answers as if and leaves everything as it was', async () => {
  const name = freshName();
  const query = { dryRun: 'All' };
  const created = await wire.call('POST', core('configmaps'), { query, body: configMap(name) });
  assert.equal(created.status, 201);
  assert.equal((await wire.call('GET', core('configmaps', name))).status, 404);
  const path = await made(configMap(name));
  const before = await wire.call('GET', path);
  const patched = await wire.call('PATCH', path, { query, type: MERGE, body: { data: { a: '2' } } });
  assert.equal(patched.body.data.a, '2');
  const applied = { query: { ...query, fieldManager: 'ours', force: 'true' }, type: APPLY };
  assert.equal(
    (await wire.call('PATCH', path, { ...applied, body: configMap(name, { a: '3' }) })).status,
    200,
  );
  assert.equal((await wire.call('DELETE', path, { query })).body.status, 'Success');
  assert.deepEqual((await wire.call('GET', path)).body, before.body);
  const some = { query: { dryRun: 'Some' } };
  await assertRefused('DELETE', path, some, 422, /dryRun: Unsupported value: .*supported values: "All"$/);
});

test('a deletion says what it deleted, and a collection goes by selector', async () => {
  const label = freshName();
  const labels = { collection: label };
  const paths = [];
  for (const name of [`${label}-a`, `${label}-b`]) paths.push(await made(configMap(name, {}, { labels })));
  const kept = await made(configMap(freshName()));
  const { uid } = (await wire.call('GET', kept)).body.metadata;
  const gone = await wire.call('DELETE', core('configmaps'), {
    query: { labelSelector: `collection=${label}` },
  });
  assert.equal(gone.status, 200);
  for (const path of paths) assert.equal((await wire.call('GET', path)).status, 404);
  const { body } = await wire.call('DELETE', kept);
  assert.deepEqual([body.kind, body.status, body.details.uid], ['Status', 'Success', uid]);
});

test('a page counts what is left, unless a selector would have to look at it', async () => {
  const labels = { page: freshName() };
  for (const suffix of ['a', 'b']) await made(configMap(`${labels.page}-${suffix}`, {}, { labels }));
  const page = async (query: Record<string, string>) =>
    (await wire.call('GET', core('configmaps'), { query: { limit: '1', ...query } })).body.metadata;
  assert.ok((await page({})).remainingItemCount >= 1);
  const selected = await page({ labelSelector: `page=${labels.page}` });
  assert.deepEqual([selected.remainingItemCount, typeof selected.continue], [undefined, 'string']);
});

test('a namespace that goes takes nothing new and waits for what is in it', async () => {
  const namespace = `${endpoint.namespace}-x`;
  const path = `/api/v1/namespaces/${namespace}`;
  const create = (name: string, finalizers: string[]) =>
    wire.call('POST', `${path}/configmaps`, { body: configMap(name, {}, { finalizers }) });
  await wire.call('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } });
  assert.equal((await create('held', ['example.com/hold'])).status, 201);
  const { body } = await wire.call('DELETE', path);
  assert.equal(body.status.phase, 'Terminating');
  const late = await create('late', []);
  assert.equal(late.status, 403);
  assert.match(late.body.message, /because it is being terminated$/);
  const within = performance.now() + 60_000;
  const release = { type: MERGE, body: { metadata: { finalizers: null } } };
  // the controller has to see to the ConfigMap first; a real one looks again later and later
  while ((await wire.call('GET', path)).status !== 404) {
    assert.ok(performance.now() < within, 'the namespace is still there after a minute');
    const { body: held } = await wire.call('GET', `${path}/configmaps/held`);
    if (held.metadata?.deletionTimestamp) await wire.call('PATCH', `${path}/configmaps/held`, release);
    await pause(200);
  }
});
