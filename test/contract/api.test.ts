/**
 * What a client of the Kubernetes API may rely on, as far as this project does. The same file runs against the embedded API and, with
 * CONTRACT_KUBECONFIG, against a real one: that is what makes the embedded one honest.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { anEndpoint, type Endpoint } from '../endpoint.ts';
import { type RawRequest, type Reply, type Wire, wireTo } from './http.ts';
import { APPLY, configMap, freshName, JSON_PATCH, MERGE, refused, STRATEGIC } from './objects.ts';

let endpoint: Endpoint;
let wire: Wire;
before(async () => {
  endpoint = await anEndpoint();
  wire = await wireTo(endpoint.kubeconfig);
});
after(() => endpoint?.[Symbol.asyncDispose]());

const core = (plural: string, name = '') =>
  `/api/v1/namespaces/${endpoint.namespace}/${plural}${name && `/${name}`}`;
const mysqls = (name = '') =>
  `/apis/example.com/v1alpha1/namespaces/${endpoint.namespace}/mysqls${name && `/${name}`}`;
const sets = (name = '') =>
  `/apis/apps/v1/namespaces/${endpoint.namespace}/statefulsets${name && `/${name}`}`;

const aMysql = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'example.com/v1alpha1',
  kind: 'Mysql',
  metadata: { name, ...metadata },
  spec: { size: 1, image: 'mysql:8.4', ...spec },
});

const anEvent = (fields: object = {}) => ({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { generateName: 'e-' },
  eventTime: '2026-01-02T03:04:05.678000Z',
  reportingController: 'mysql-operator',
  reportingInstance: 'test',
  action: 'Test',
  reason: 'Testing',
  type: 'Normal',
  note: 'as it is',
  regarding: { apiVersion: 'v1', kind: 'ConfigMap', namespace: endpoint.namespace, name: 'somebody' },
  ...fields,
});

async function made(path: string, body: object): Promise<Reply['body']> {
  const { status, body: object } = await wire.call('POST', path, { body });
  assert.equal(status, 201, JSON.stringify(object));
  return object;
}
const apply = (
  path: string,
  manager: string,
  body: object,
  extras: Record<string, string> = {},
): Promise<Reply> =>
  wire.call('PATCH', path, { body, type: APPLY, query: { fieldManager: manager, ...extras } });

describe('create, get, list', () => {
  test('an object comes back with what the server adds, and only once', async () => {
    const name = freshName();
    const object = await made(core('configmaps'), configMap(name));
    assert.ok(object.metadata.uid && object.metadata.resourceVersion && object.metadata.creationTimestamp);
    const got = await wire.call('GET', core('configmaps', name));
    assert.deepEqual(got.body, object);
    assert.deepEqual(refused(await wire.call('POST', core('configmaps'), { body: configMap(name) })), {
      status: 409,
      code: 409,
      kind: 'Status',
      reason: 'AlreadyExists',
    });
  });

  test('what is not there is a Status that says so', async () => {
    const reply = await wire.call('GET', core('configmaps', 'nobody'));
    assert.deepEqual(refused(reply), { status: 404, code: 404, kind: 'Status', reason: 'NotFound' });
    assert.equal(reply.body.message, 'configmaps "nobody" not found');
    assert.equal((await wire.call('GET', '/apis/nobody.example/v1/things')).status, 404);
    assert.equal(
      (await wire.call('POST', '/api/v1/namespaces/nobody-here/configmaps', { body: configMap('x') })).status,
      404,
    );
  });

  test('generateName makes names', async () => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'gen-' } };
    assert.match((await made(core('configmaps'), body)).metadata.name, /^gen-\w{5,}$/);
  });

  test('pages follow each other without loss, and a selector narrows them', async () => {
    const label = freshName();
    const wanted = ['p1', 'p2', 'p3', 'p4', 'p5'].map((one) => `${label}-${one}`);
    for (const name of wanted)
      await made(core('configmaps'), configMap(name, {}, { labels: { page: label } }));
    const found: string[] = [];
    let next = '';
    let pages = 0;
    do {
      const query = { limit: '2', labelSelector: `page=${label}`, ...(next ? { continue: next } : {}) };
      const { body } = await wire.call('GET', core('configmaps'), { query });
      found.push(...body.items.map((item: { metadata: { name: string } }) => item.metadata.name));
      next = body.metadata.continue ?? '';
      pages += 1;
    } while (next);
    assert.deepEqual(found, wanted);
    assert.equal(pages, 3);
    const count = async (labelSelector: string) =>
      (await wire.call('GET', core('configmaps'), { query: { labelSelector } })).body.items.length;
    assert.equal(await count(`page in (${label},x)`), 5);
    assert.equal(await count(`page=${label},page!=${label}`), 0);
  });
});

describe('update and patch', () => {
  test('an old resourceVersion is a conflict, none is taken as it comes', async () => {
    const name = freshName();
    const first = await made(core('configmaps'), configMap(name));
    const second = await wire.call('PUT', core('configmaps', name), { body: { ...first, data: { a: '2' } } });
    assert.equal(second.status, 200);
    assert.equal(
      (await wire.call('PUT', core('configmaps', name), { body: { ...first, data: { a: '3' } } })).status,
      409,
    );
    assert.equal(
      (await wire.call('PUT', core('configmaps', name), { body: configMap(name, { a: '4' }) })).status,
      200,
    );
  });

  test('merge patch removes with null, JSON patch tests before it acts, strategic merges lists by key', async () => {
    const name = freshName();
    await made(core('configmaps'), configMap(name, { a: '1', b: '2' }));
    const merged = await wire.call('PATCH', core('configmaps', name), {
      type: MERGE,
      body: { data: { a: null, c: '3' } },
    });
    assert.deepEqual(merged.body.data, { b: '2', c: '3' });
    const patch = (value: string): RawRequest => ({
      type: JSON_PATCH,
      body: [
        { op: 'test', path: '/data/b', value },
        { op: 'replace', path: '/data/b', value: 'x' },
      ],
    });
    assert.equal((await wire.call('PATCH', core('configmaps', name), patch('9'))).status, 422);
    assert.equal((await wire.call('PATCH', core('configmaps', name), patch('2'))).body.data.b, 'x');

    const service = freshName();
    await made(core('services'), {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: service },
      spec: {
        selector: { a: 'b' },
        ports: [
          { name: 'one', port: 1 },
          { name: 'two', port: 2 },
        ],
      },
    });
    const { body } = await wire.call('PATCH', core('services', service), {
      type: STRATEGIC,
      body: {
        spec: {
          ports: [
            { port: 2, $patch: 'delete' },
            { port: 1, name: 'first' },
          ],
        },
      },
    });
    assert.deepEqual(
      body.spec.ports.map((port: { name: string }) => port.name),
      ['first'],
    );
  });

  test('a patch may carry the uid and resourceVersion that it is meant for', async () => {
    const name = freshName();
    const { metadata } = await made(core('configmaps'), configMap(name));
    const patch = (identity: object) =>
      wire.call('PATCH', core('configmaps', name), {
        type: MERGE,
        body: { metadata: { ...identity, annotations: { x: 'y' } } },
      });
    assert.equal((await patch({ uid: '00000000-0000-0000-0000-000000000000' })).status, 422);
    assert.equal((await patch({ resourceVersion: '1' })).status, 409);
    assert.equal((await patch({ uid: metadata.uid, resourceVersion: metadata.resourceVersion })).status, 200);
  });
});

describe('server-side apply', () => {
  test('creates with 201, changes with 200, and the same again changes nothing', async () => {
    const name = freshName();
    const path = core('configmaps', name);
    const first = await apply(path, 'one', configMap(name));
    assert.equal(first.status, 201);
    const again = await apply(path, 'one', configMap(name));
    assert.equal(again.status, 200);
    assert.equal(again.body.metadata.resourceVersion, first.body.metadata.resourceVersion);
    const changed = await apply(path, 'one', configMap(name, { a: '2' }));
    assert.notEqual(changed.body.metadata.resourceVersion, first.body.metadata.resourceVersion);
  });

  test('is taken under its own media type only and asks for a manager', async () => {
    const name = freshName();
    for (const type of ['application/json', 'application/apply-patch+json']) {
      const reply = await wire.call('PATCH', core('configmaps', name), {
        type,
        body: configMap(name),
        query: { fieldManager: 'one' },
      });
      assert.equal(reply.status, 415, type);
    }
    assert.equal(
      (await wire.call('PATCH', core('configmaps', name), { type: APPLY, body: configMap(name) })).status,
      422,
    );
  });

  test('a field that another manager set is a conflict that names both, unless forced', async () => {
    const name = freshName();
    const path = core('configmaps', name);
    await apply(path, 'theirs', configMap(name, { a: '1', b: '1' }));
    const reply = await apply(path, 'ours', configMap(name, { a: '2' }));
    assert.deepEqual(refused(reply), { status: 409, code: 409, kind: 'Status', reason: 'Conflict' });
    const [cause] = reply.body.details.causes;
    assert.equal(cause.reason, 'FieldManagerConflict');
    assert.equal(cause.field, '.data.a');
    assert.match(cause.message, /conflict with "theirs"/);
    const forced = await apply(path, 'ours', configMap(name, { a: '2' }), { force: 'true' });
    assert.deepEqual(forced.body.data, { a: '2', b: '1' });
    // theirs was taken away: what they apply next is now in conflict with ours
    assert.equal((await apply(path, 'theirs', configMap(name, { a: '1', b: '1' }))).status, 409);
  });

  test('conflicts with several are told by their managers', async () => {
    const name = freshName();
    const path = core('configmaps', name);
    await apply(path, 'first', configMap(name, { a: '1', b: '1' }));
    await apply(path, 'second', configMap(name, { b: '1' }));
    const query = { fieldManager: 'third' };
    await wire.call('PATCH', path, { type: MERGE, body: { data: { c: '1' } }, query });
    const { body } = await apply(path, 'ours', configMap(name, { a: '2', b: '2', c: '2' }));
    assert.equal(
      body.message,
      [
        'Apply failed with 4 conflicts: conflicts with "first":',
        '- .data.a',
        '- .data.b',
        'conflicts with "second":',
        '- .data.b',
        'conflicts with "third" using v1:',
        '- .data.c',
      ].join('\n'),
    );
  });

  test('who creates a Pod owns nothing of its status, and whoever writes the status does', async () => {
    const name = freshName();
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name } };
    const spec = {
      schedulingGates: [{ name: 'example.com/never' }],
      containers: [{ name: 'c', image: 'x' }],
    };
    await wire.call('POST', core('pods'), { body: { ...pod, spec }, query: { fieldManager: 'maker' } });
    const { body } = await wire.call('GET', core('pods', name));
    const own = body.metadata.managedFields.find((one: { manager: string }) => one.manager === 'maker');
    assert.deepEqual(Object.keys(own.fieldsV1), ['f:spec']);
    await wire.call('DELETE', core('pods', name), { query: { gracePeriodSeconds: '0' } });
    const mysql = freshName();
    await made(mysqls(), aMysql(mysql));
    const status = (primary: string) => ({
      apiVersion: 'example.com/v1alpha1',
      kind: 'Mysql',
      metadata: { name: mysql },
      status: { primary },
    });
    await apply(`${mysqls(mysql)}/status`, 'theirs', status('a'));
    const conflict = await apply(`${mysqls(mysql)}/status`, 'ours', status('b'));
    assert.equal(
      conflict.body.message,
      'Apply failed with 1 conflict: conflict with "theirs" with subresource "status": .status.primary',
    );
  });

  test('the same value is shared and not contested', async () => {
    const name = freshName();
    const path = core('configmaps', name);
    await apply(path, 'theirs', configMap(name));
    assert.equal((await apply(path, 'ours', configMap(name))).status, 200);
    // one of two owners lets go: the field stays
    const { body } = await apply(path, 'theirs', { ...configMap(name), data: {} });
    assert.deepEqual(body.data, { a: '1' });
  });

  test('a field that is no longer applied goes away, others stay', async () => {
    const name = freshName();
    const path = core('configmaps', name);
    await apply(path, 'ours', configMap(name, { a: '1', b: '2' }));
    await wire.call('PATCH', path, {
      type: MERGE,
      body: { data: { c: '3' } },
      query: { fieldManager: 'someone' },
    });
    const { body } = await apply(path, 'ours', configMap(name, { a: '1' }));
    assert.deepEqual(body.data, { a: '1', c: '3' });
  });

  test('an empty map that was applied takes nothing along when it goes', async () => {
    const name = freshName();
    const path = core('configmaps', name);
    await made(core('configmaps'), configMap(name, { a: '1' }));
    assert.equal((await apply(path, 'ours', configMap(name, {}))).status, 200);
    const { body } = await apply(path, 'ours', configMap(name, { b: '2' }));
    assert.deepEqual(body.data, { a: '1', b: '2' });
  });

  test('lists of named items merge by name', async () => {
    const name = freshName();
    const pod = (containers: object[]) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { nodeName: 'nowhere', containers },
    });
    await made(core('pods'), pod([{ name: 'a', image: 'x' }]));
    const labels = { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: { role: 'primary' } } };
    const { status, body } = await apply(core('pods', name), 'ours', labels);
    assert.equal(status, 200);
    assert.equal(body.spec.containers[0].image, 'x');
    const gone = await apply(core('pods', name), 'ours', { ...labels, metadata: { name } });
    assert.equal(gone.body.metadata.labels?.role, undefined);
    await wire.call('DELETE', core('pods', name), { query: { gracePeriodSeconds: '0' } });
  });

  test('uid and resourceVersion in the body mean "only if it is still that one"', async () => {
    const name = freshName();
    const path = core('configmaps', name);
    const other = '00000000-0000-0000-0000-000000000000';
    assert.equal((await apply(path, 'ours', configMap(name, {}, { uid: other }))).status, 409);
    const { body } = await apply(path, 'ours', configMap(name));
    const { uid, resourceVersion } = body.metadata;
    assert.equal((await apply(path, 'ours', configMap(name, { a: '2' }, { uid: other }))).status, 422);
    assert.equal(
      (await apply(path, 'ours', configMap(name, { a: '2' }, { uid, resourceVersion: '1' }))).status,
      409,
    );
    assert.equal(
      (await apply(path, 'ours', configMap(name, { a: '2' }, { uid, resourceVersion }))).status,
      200,
    );
  });

  test('managedFields tell who owns what', async () => {
    const name = freshName();
    await apply(core('configmaps', name), 'ours', configMap(name));
    const { body } = await wire.call('GET', core('configmaps', name));
    const [entry] = body.metadata.managedFields;
    assert.equal(entry.manager, 'ours');
    assert.equal(entry.operation, 'Apply');
    assert.equal(entry.fieldsType, 'FieldsV1');
    assert.deepEqual(entry.fieldsV1, { 'f:data': { 'f:a': {} } });
  });
});

describe('a custom resource', () => {
  test('gets its defaults and loses what the schema does not know, with a warning', async () => {
    const name = freshName();
    const { status, body, warnings } = await wire.call('POST', mysqls(), {
      body: aMysql(name, { nonsense: 1 }),
      query: { fieldValidation: 'Warn' },
    });
    assert.equal(status, 201);
    assert.equal(body.spec.storage.size, '10Gi');
    assert.equal(body.spec.nonsense, undefined);
    assert.match(warnings.join(), /unknown field \\?"spec.nonsense\\?"/);
    const strict = await wire.call('POST', mysqls(), {
      body: aMysql(freshName(), { nonsense: 1 }),
      query: { fieldValidation: 'Strict' },
    });
    assert.equal(strict.status, 400);
  });

  test('an applied field that the schema does not know is a 500', async () => {
    const name = freshName();
    const reply = await apply(mysqls(name), 'ours', aMysql(name, { nonsense: 1 }));
    assert.equal(reply.status, 500);
    assert.match(reply.body.message, /field not declared in schema/);
  });

  test('is refused with the field and the reason', async () => {
    const cause = async (spec: object) => {
      const { status, body } = await wire.call('POST', mysqls(), { body: aMysql(freshName(), spec) });
      assert.equal(status, 422, JSON.stringify(body));
      const [{ field, reason }] = body.details.causes;
      return [field, reason, /some validation rules were not checked/.test(body.message)];
    };
    assert.deepEqual(await cause({ size: 10 }), ['spec.size', 'FieldValueInvalid', false]);
    assert.deepEqual(await cause({ image: undefined }), ['spec.image', 'FieldValueRequired', true]);
    const never = { storage: { whenDeleted: 'Never' } };
    assert.deepEqual(await cause(never), ['spec.storage.whenDeleted', 'FieldValueNotSupported', true]);
    assert.deepEqual(await cause({ size: '3' }), ['spec.size', 'FieldValueTypeInvalid', true]);
  });

  test('counts its generation by the spec; the status is apart', async () => {
    const name = freshName();
    const first = await made(mysqls(), { ...aMysql(name), status: { primary: 'nobody' } });
    assert.equal(first.metadata.generation, 1);
    assert.equal(first.status, undefined);
    const status = {
      apiVersion: 'example.com/v1alpha1',
      kind: 'Mysql',
      metadata: { name },
      status: { nodes: ['a', 'b'] },
    };
    const applied = await apply(`${mysqls(name)}/status`, 'ours', { ...status, spec: { size: 3 } });
    assert.equal(applied.status, 200);
    assert.deepEqual(applied.body.status.nodes, ['a', 'b']);
    assert.equal(applied.body.spec.size, 1);
    assert.equal(applied.body.metadata.generation, 1);
    const same = await apply(`${mysqls(name)}/status`, 'ours', status);
    assert.equal(same.body.metadata.resourceVersion, applied.body.metadata.resourceVersion);
    const changed = await wire.call('PATCH', mysqls(name), {
      type: MERGE,
      body: { spec: { size: 3 }, status: { nodes: [] } },
    });
    assert.equal(changed.body.metadata.generation, 2);
    assert.deepEqual(changed.body.status.nodes, ['a', 'b']);
    const stale = { ...status, metadata: { name, resourceVersion: first.metadata.resourceVersion } };
    assert.equal((await apply(`${mysqls(name)}/status`, 'ours', stale)).status, 409);
    assert.equal(
      (await apply(`${mysqls('nobody')}/status`, 'ours', { ...status, metadata: { name: 'nobody' } })).status,
      404,
    );
  });

  test('scales through its subresource', async () => {
    const name = freshName();
    await made(mysqls(), aMysql(name));
    const { body } = await wire.call('GET', `${mysqls(name)}/scale`);
    assert.equal(body.kind, 'Scale');
    assert.equal(body.spec.replicas, 1);
    const scaled = await wire.call('PUT', `${mysqls(name)}/scale`, {
      body: { ...body, spec: { replicas: 3 } },
    });
    assert.equal(scaled.body.spec.replicas, 3);
    assert.equal((await wire.call('GET', mysqls(name))).body.spec.size, 3);
  });

  test('prints its columns', async () => {
    const name = freshName();
    await made(mysqls(), aMysql(name));
    const { body } = await wire.call('GET', mysqls(name), {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
    });
    assert.equal(body.kind, 'Table');
    assert.deepEqual(
      body.columnDefinitions.map((column: { name: string }) => column.name),
      ['Name', 'Size', 'Ready', 'Primary', 'State', 'Image', 'Age'],
    );
    assert.deepEqual(body.rows[0].cells.slice(0, 2), [name, 1]);
  });
});

describe('watch', () => {
  const path = () => core('configmaps');
  async function take(query: Record<string, string>, count: number): Promise<string[]> {
    const seen: string[] = [];
    for await (const { type, object } of wire.watch(path(), query)) {
      seen.push(`${type} ${object.metadata?.name ?? object.reason}`);
      if (seen.length === count) break;
    }
    return seen;
  }

  test('resumes where a list ended and loses nothing', async () => {
    const name = freshName();
    const { body: list } = await wire.call('GET', path());
    await made(path(), configMap(name, {}, { labels: { w: name } }));
    await wire.call('PATCH', core('configmaps', name), { type: MERGE, body: { data: { a: '2' } } });
    await wire.call('DELETE', core('configmaps', name));
    const query = { resourceVersion: list.metadata.resourceVersion, labelSelector: `w=${name}` };
    assert.deepEqual(await take(query, 3), [`ADDED ${name}`, `MODIFIED ${name}`, `DELETED ${name}`]);
  });

  test('an object that leaves the selector is deleted to the watcher, one that enters is added', async () => {
    const name = freshName();
    await made(path(), configMap(name));
    const { body: list } = await wire.call('GET', path());
    const label = (w: string | null) =>
      wire.call('PATCH', core('configmaps', name), { type: MERGE, body: { metadata: { labels: { w } } } });
    await label(name);
    await label(null);
    const query = { resourceVersion: list.metadata.resourceVersion, labelSelector: `w=${name}` };
    assert.deepEqual(await take(query, 2), [`ADDED ${name}`, `DELETED ${name}`]);
  });

  test('a pod on no node is seen to leave, and then gone', async () => {
    const name = freshName();
    const pods = core('pods');
    await made(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { w: name } },
      spec: { containers: [{ name: 'c', image: 'x' }], schedulingGates: [{ name: 'example.com/never' }] },
    });
    const { body: list } = await wire.call('GET', pods);
    await wire.call('DELETE', core('pods', name));
    const query = { resourceVersion: list.metadata.resourceVersion, labelSelector: `w=${name}` };
    const seen: string[] = [];
    for await (const { type, object } of wire.watch(pods, query)) {
      seen.push(`${type} ${object.metadata.deletionGracePeriodSeconds}`);
      if (seen.length === 2) break;
    }
    assert.deepEqual(seen, ['MODIFIED 0', 'DELETED 0']);
  });

  test('tells each no-op nothing', async () => {
    const name = freshName();
    await apply(core('configmaps', name), 'ours', configMap(name));
    const { body: list } = await wire.call('GET', path());
    await apply(core('configmaps', name), 'ours', configMap(name));
    await apply(core('configmaps', name), 'ours', configMap(name, { a: '2' }));
    const query = { resourceVersion: list.metadata.resourceVersion, fieldSelector: `metadata.name=${name}` };
    for await (const { type, object } of wire.watch(path(), query)) {
      assert.deepEqual([type, object.data], ['MODIFIED', { a: '2' }]);
      break;
    }
  });

  test('ends after its time, with a bookmark where one is asked for', async () => {
    const { body: list } = await wire.call('GET', path());
    const types: string[] = [];
    const query = {
      resourceVersion: list.metadata.resourceVersion,
      timeoutSeconds: '2',
      allowWatchBookmarks: 'true',
      labelSelector: 'nobody=carries-this',
    };
    for await (const { type } of wire.watch(path(), query)) types.push(type);
    assert.ok(types.every((type) => type === 'BOOKMARK'));
  });

  test('begins with what is there, and says where that ends, when it is asked to', async () => {
    const name = freshName();
    await made(path(), configMap(name, {}, { labels: { w: name } }));
    const seen: string[] = [];
    const query = {
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
      labelSelector: `w=${name}`,
    };
    for await (const { type, object } of wire.watch(path(), query)) {
      seen.push(
        `${type} ${object.metadata.annotations?.['k8s.io/initial-events-end'] ?? object.metadata.name}`,
      );
      if (type === 'BOOKMARK') break;
    }
    assert.deepEqual(seen, [`ADDED ${name}`, 'BOOKMARK true']);
  });

  test('a version that is none, or that only a server with its whole history knows, ends it', async () => {
    for (const resourceVersion of ['none', '1']) {
      const [first] = await take({ resourceVersion, timeoutSeconds: '2' }, 1);
      // compaction depends on the server's age; the embedded one's is in watch.test.ts beside it
      const known = resourceVersion === '1' ? /^(ERROR Expired|ADDED .*)$/ : /^ERROR /;
      assert.match(first ?? '', known);
    }
  });

  test('of Events speaks the API that was asked', async () => {
    const events = `/apis/events.k8s.io/v1/namespaces/${endpoint.namespace}/events`;
    const { body: list } = await wire.call('GET', events);
    const { metadata } = await made(events, anEvent());
    const query = {
      resourceVersion: list.metadata.resourceVersion,
      fieldSelector: `metadata.name=${metadata.name}`,
    };
    for (const [address, apiVersion, text] of [
      [events, 'events.k8s.io/v1', 'note'],
      [core('events'), 'v1', 'message'],
    ] as const) {
      for await (const { object } of wire.watch(address, query)) {
        assert.deepEqual([object.apiVersion, object[text]], [apiVersion, 'as it is']);
        break;
      }
    }
  });
});

describe('delete', () => {
  test('preconditions hold it back', async () => {
    const name = freshName();
    const { metadata } = await made(core('configmaps'), configMap(name));
    const remove = (preconditions: object) =>
      wire.call('DELETE', core('configmaps', name), {
        body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions },
      });
    assert.equal((await remove({ uid: '00000000-0000-0000-0000-000000000000' })).status, 409);
    assert.equal((await remove({ resourceVersion: '1' })).status, 409);
    assert.equal(
      (await remove({ uid: metadata.uid, resourceVersion: metadata.resourceVersion })).status,
      200,
    );
    assert.equal((await remove({})).status, 404);
  });

  test('a finalizer holds it until it is taken away', async () => {
    const name = freshName();
    await made(core('configmaps'), configMap(name, {}, { finalizers: ['example.com/hold'] }));
    await wire.call('DELETE', core('configmaps', name));
    const { body } = await wire.call('GET', core('configmaps', name));
    assert.ok(body.metadata.deletionTimestamp);
    await wire.call('PATCH', core('configmaps', name), {
      type: MERGE,
      body: { metadata: { finalizers: null } },
    });
    assert.equal((await wire.call('GET', core('configmaps', name))).status, 404);
  });

  const owned = (owner: { metadata: { name: string; uid: string } }) => ({
    ownerReferences: [
      { apiVersion: 'v1', kind: 'ConfigMap', name: owner.metadata.name, uid: owner.metadata.uid },
    ],
  });
  const goneWithin = async (path: string, seconds = 15): Promise<boolean> => {
    for (const end = performance.now() + seconds * 1_000; performance.now() < end; await pause(100)) {
      if ((await wire.call('GET', path)).status === 404) return true;
    }
    return false;
  };

  for (const propagationPolicy of ['Background', 'Foreground']) {
    test(`${propagationPolicy}: what it owned goes with it, by uid`, async () => {
      const name = freshName();
      const owner = await made(core('configmaps'), configMap(name));
      await made(core('configmaps'), configMap(`${name}-child`, {}, owned(owner)));
      await wire.call('DELETE', core('configmaps', name), {
        body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy },
      });
      assert.ok(await goneWithin(core('configmaps', `${name}-child`)));
      assert.ok(await goneWithin(core('configmaps', name)));
    });
  }

  test('Orphan: what it owned stays', async () => {
    const name = freshName();
    const owner = await made(core('configmaps'), configMap(name));
    await made(core('configmaps'), configMap(`${name}-child`, {}, owned(owner)));
    await wire.call('DELETE', core('configmaps', name), {
      body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Orphan' },
    });
    assert.ok(await goneWithin(core('configmaps', name)));
    const { body } = await wire.call('GET', core('configmaps', `${name}-child`));
    assert.equal(body.metadata.ownerReferences, undefined);
  });

  test('an object whose owner was never there is collected', async () => {
    const name = freshName();
    const ghost = { metadata: { name: 'ghost', uid: '11111111-1111-4111-8111-111111111111' } };
    await made(core('configmaps'), configMap(name, {}, owned(ghost)));
    assert.ok(await goneWithin(core('configmaps', name)));
  });
});

describe('built-in kinds', () => {
  test('a Secret takes plain text and gives base64', async () => {
    const name = freshName();
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { a: 'päss' } };
    const secret = await made(core('secrets'), body);
    assert.equal(secret.data.a, Buffer.from('päss').toString('base64'));
    assert.equal(secret.stringData, undefined);
    assert.equal(secret.type, 'Opaque');
  });

  test('an Event wants microseconds and tells itself under both APIs', async () => {
    const { namespace } = endpoint;
    const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
    assert.equal(
      (await wire.call('POST', path, { body: anEvent({ eventTime: '2026-01-02T03:04:05.678Z' }) })).status,
      400,
    );
    const { metadata } = await made(
      path,
      anEvent({ regarding: { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'whoever' } }),
    );
    const { body } = await wire.call('GET', core('events', metadata.name));
    assert.deepEqual(
      [body.message, body.involvedObject.name, body.reason],
      ['as it is', 'whoever', 'Testing'],
    );
    const found = await wire.call('GET', core('events'), {
      query: { fieldSelector: 'involvedObject.kind=ConfigMap,involvedObject.name=whoever' },
    });
    assert.equal(found.body.items.length, 1);
    assert.equal((await wire.call('POST', path, { body: anEvent({ note: 'x'.repeat(1_025) }) })).status, 422);
  });

  test('an Event that is there may be counted and not reworded', async () => {
    const events = `/apis/events.k8s.io/v1/namespaces/${endpoint.namespace}/events`;
    const { metadata } = await made(events, anEvent());
    const patch = (body: object) => wire.call('PATCH', `${events}/${metadata.name}`, { type: MERGE, body });
    assert.equal((await patch({ note: 'something else' })).status, 422);
    const series = { count: 2, lastObservedTime: '2026-01-02T03:04:06.000000Z' };
    assert.deepEqual((await patch({ series })).body.series, series);
  });

  test('a StatefulSet keeps what may not change', async () => {
    const name = freshName();
    const set = (spec: object) => ({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name },
      spec: {
        replicas: 0,
        serviceName: name,
        selector: { matchLabels: { set: name } },
        template: { metadata: { labels: { set: name } }, spec: { containers: [{ name: 'c', image: 'x' }] } },
        ...spec,
      },
    });
    assert.equal((await apply(sets(name), 'ours', set({}))).status, 201);
    const again = await apply(sets(name), 'ours', set({}));
    assert.equal(again.status, 200);
    const other = await apply(sets(name), 'ours', set({ serviceName: 'other' }));
    assert.equal(other.status, 422);
    assert.match(other.body.message, /updates to statefulset spec for fields other than/);
    assert.equal(
      (await apply(sets(name), 'ours', set({ replicas: 0, revisionHistoryLimit: 1 }))).status,
      200,
    );
  });
});
