/**
 * What a CustomResourceDefinition makes of custom resources: the words of each refusal are part of what users see. The same file runs
 * against the embedded API and, with CONTRACT_KUBECONFIG, against a real one.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { anEndpoint, type Endpoint } from '../endpoint.ts';
import { type Reply, type Wire, wireTo } from './http.ts';
import { APPLY, freshName, MERGE, refused, STRATEGIC } from './objects.ts';

// a group of this run's own: a real cluster may be shared
const GROUP = `${randomBytes(4).toString('hex')}.contract.example.com`;
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              status: { type: 'object', properties: { seen: { type: 'integer' } } },
              spec: {
                type: 'object',
                required: ['count'],
                properties: {
                  count: { type: 'integer', minimum: 1, maximum: 9 },
                  text: { type: 'string', minLength: 2, maxLength: 3, pattern: '^a' },
                  choice: { type: 'string', enum: ['x', 'y'], default: 'x' },
                  either: { 'x-kubernetes-int-or-string': true },
                  empty: { type: 'string', nullable: true },
                  fixed: {
                    type: 'string',
                    'x-kubernetes-validations': [
                      { rule: 'self == oldSelf', message: 'may not change', reason: 'FieldValueForbidden' },
                    ],
                  },
                  set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
                  list: {
                    type: 'array',
                    maxItems: 2,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['key'],
                    items: {
                      type: 'object',
                      required: ['key'],
                      properties: { key: { type: 'string' }, value: { type: 'integer', default: 7 } },
                      'x-kubernetes-validations': [{ rule: 'self.value > 0', message: 'must be positive' }],
                    },
                  },
                  map: {
                    type: 'object',
                    maxProperties: 2,
                    additionalProperties: {
                      type: 'string',
                      maxLength: 5,
                      'x-kubernetes-validations': [
                        { rule: "self != 'bad'", messageExpression: "'the value ' + self + ' is bad'" },
                      ],
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

let endpoint: Endpoint;
let wire: Wire;
const widgets = (name = '') =>
  `/apis/${GROUP}/v1/namespaces/${endpoint.namespace}/widgets${name && `/${name}`}`;
const aWidget = (name: string, spec: unknown = {}, metadata: object = {}) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Widget',
  metadata: { name, ...metadata },
  spec: typeof spec === 'object' ? { count: 1, ...spec } : spec,
});
const create = (spec: unknown, query: Record<string, string> = {}): Promise<Reply> =>
  wire.call('POST', widgets(), { body: aWidget(freshName(), spec), query });

before(async () => {
  endpoint = await anEndpoint();
  wire = await wireTo(endpoint.kubeconfig);
  await serve();
});
after(async () => {
  await wire?.call('DELETE', `${CRDS}/${CRD.metadata.name}`);
  await endpoint?.[Symbol.asyncDispose]();
});

/** Creates the definition and waits until it counts: a real server answers for a moment without it, then without its checks. */
async function serve(): Promise<void> {
  await until(async () => (await wire.call('POST', CRDS, { body: CRD })).status === 201);
  await until(async () => (await create({ count: 0 }, { dryRun: 'All' })).status === 422);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const started = performance.now();
  while (!(await holds())) {
    if (performance.now() - started > 30_000) throw new Error('not within 30 seconds');
    await pause(100);
  }
}

const UNCHECKED =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
const NOT_AN = (type: string, found: string, field: string) =>
  `${field}: Invalid value: "${found}": ${field} in body must be of type ${type}: "${found}"`;

/** Each with the field, the reason and the message; those that end the checks early say so. */
const REFUSALS: readonly (readonly [spec: unknown, reason: string, message: string, last?: 'unchecked'])[] = [
  [{ count: undefined }, 'FieldValueRequired', 'spec.count: Required value', 'unchecked'],
  [{ count: null }, 'FieldValueRequired', 'spec.count: Required value', 'unchecked'],
  [
    { count: 0 },
    'FieldValueInvalid',
    'spec.count: Invalid value: 0: spec.count in body should be greater than or equal to 1',
  ],
  [
    { count: 10 },
    'FieldValueInvalid',
    'spec.count: Invalid value: 10: spec.count in body should be less than or equal to 9',
  ],
  [{ count: 1.5 }, 'FieldValueTypeInvalid', NOT_AN('integer', 'number', 'spec.count'), 'unchecked'],
  [{ count: '1' }, 'FieldValueTypeInvalid', NOT_AN('integer', 'string', 'spec.count'), 'unchecked'],
  [{ list: {} }, 'FieldValueTypeInvalid', NOT_AN('array', 'object', 'spec.list'), 'unchecked'],
  [{ either: 1.5 }, 'FieldValueTypeInvalid', NOT_AN('integer,string', 'number', 'spec.either'), 'unchecked'],
  ['text', 'FieldValueTypeInvalid', NOT_AN('object', 'string', 'spec'), 'unchecked'],
  [
    { text: 'a' },
    'FieldValueInvalid',
    'spec.text: Invalid value: "a": spec.text in body should be at least 2 chars long',
  ],
  [{ text: 'abcd' }, 'FieldValueTooLong', 'spec.text: Too long: may not be more than 3 bytes', 'unchecked'],
  [
    { text: 'bb' },
    'FieldValueInvalid',
    'spec.text: Invalid value: "bb": spec.text in body should match \'^a\'',
  ],
  [
    { choice: 'z' },
    'FieldValueNotSupported',
    'spec.choice: Unsupported value: "z": supported values: "x", "y"',
    'unchecked',
  ],
  [{ set: ['a', 'a'] }, 'FieldValueDuplicate', 'spec.set[1]: Duplicate value: "a"'],
  [
    { list: [{ key: 'a' }, { key: 'a' }] },
    'FieldValueDuplicate',
    'spec.list[1]: Duplicate value: {"key":"a"}',
  ],
  [
    { list: [{ key: 'a' }, { key: 'b' }, { key: 'c' }] },
    'FieldValueTooMany',
    'spec.list: Too many: 3: must have at most 2 items',
    'unchecked',
  ],
  [{ list: [{}] }, 'FieldValueRequired', 'spec.list[0].key: Required value', 'unchecked'],
  [
    { list: [{ key: 'a', value: 0 }] },
    'FieldValueInvalid',
    'spec.list[0]: Invalid value: "object": must be positive',
  ],
  [
    { map: { a: '', b: '', c: '' } },
    'FieldValueTooMany',
    'spec.map: Too many: 3: must have at most 2 items',
    'unchecked',
  ],
  [
    { map: { a: 'toolong' } },
    'FieldValueTooLong',
    'spec.map.a: Too long: may not be more than 5 bytes',
    'unchecked',
  ],
  [{ map: { a: 'bad' } }, 'FieldValueInvalid', 'spec.map[a]: Invalid value: "string": the value bad is bad'],
];

describe('a schema', () => {
  for (const [spec, reason, message, last] of REFUSALS) {
    test(`refuses ${JSON.stringify(spec)}`, async () => {
      const { status, body } = await create(spec);
      assert.equal(status, 422);
      assert.equal(body.details.causes[0].reason, reason);
      const [, said] = /is invalid: (.*)$/s.exec(body.message) ?? [];
      assert.equal(said, last ? `[${message}, ${UNCHECKED}]` : message);
    });
  }

  test('fills in defaults, inside lists too, and takes a null for nothing where it may not be one', async () => {
    const { body } = await create({ list: [{ key: 'a' }], text: null, empty: null, choice: null });
    assert.deepEqual(body.spec, { count: 1, choice: 'x', list: [{ key: 'a', value: 7 }], empty: null });
  });

  test('holds a field to its old value', async () => {
    const name = freshName();
    await wire.call('POST', widgets(), { body: aWidget(name, { fixed: 'a' }) });
    const patch = (fixed: string) =>
      wire.call('PATCH', widgets(name), { type: MERGE, body: { spec: { fixed, count: 2 } } });
    const { status, body } = await patch('b');
    assert.equal(status, 422);
    assert.match(body.message, /is invalid: spec\.fixed: Forbidden: may not change$/);
    assert.equal((await patch('a')).status, 200);
  });

  test('knows the metadata too', async () => {
    const post = (metadata: object, fieldValidation: string) =>
      wire.call('POST', widgets(), {
        body: aWidget(freshName(), {}, metadata),
        query: { fieldValidation, dryRun: 'All' },
      });
    const strict = await post({ labls: {} }, 'Strict');
    assert.equal(strict.status, 400);
    assert.match(strict.body.message, /strict decoding error: unknown field "metadata\.labls"$/);
    const { status, body, warnings } = await post({ labls: {} }, 'Warn');
    assert.equal(status, 201);
    assert.equal(body.metadata.labls, undefined);
    assert.match(warnings.join(), /unknown field \\"metadata\.labls\\"/);
    assert.equal((await post({ labels: { a: 1 } }, 'Warn')).status, 400);
  });
});

describe('server-side apply by schema', () => {
  const apply = (name: string, fieldManager: string, spec: object, query: Record<string, string> = {}) =>
    wire.call('PATCH', widgets(name), {
      type: APPLY,
      query: { fieldManager, ...query },
      body: { ...aWidget(name), spec },
    });

  test('puts the items of two managers into the order of the later one, around what only the other has', async () => {
    const name = freshName();
    await apply(name, 'theirs', { count: 1, set: ['a', 'b', 'c', 'd'] });
    const { body } = await apply(name, 'ours', { set: ['d', 'e', 'b'] });
    assert.deepEqual(body.spec.set, ['a', 'c', 'd', 'e', 'b']);
  });

  test('leaves atomic lists whole and merges the others by key', async () => {
    const name = freshName();
    await apply(name, 'theirs', { count: 1, list: [{ key: 'a', value: 1 }] });
    const { body } = await apply(name, 'ours', { list: [{ key: 'b' }, { key: 'a' }] });
    assert.deepEqual(body.spec.list, [
      { key: 'b', value: 7 },
      { key: 'a', value: 1 },
    ]);
    const conflict = await apply(name, 'ours', { list: [{ key: 'a', value: 2 }] });
    assert.equal(conflict.status, 409);
    assert.match(conflict.body.message, /conflict with "theirs": \.spec\.list\[key="a"\]\.value$/);
  });

  test('an empty map contradicts nobody', async () => {
    const name = freshName();
    await apply(name, 'theirs', { count: 1, map: {} });
    await wire.call('PATCH', widgets(name), { type: MERGE, body: { spec: { map: { a: '1' } } } });
    const { status, body } = await apply(name, 'ours', { map: {} });
    assert.equal(status, 200);
    assert.deepEqual(body.spec.map, { a: '1' });
  });

  test('what goes with its item belongs to nobody any more', async () => {
    const name = freshName();
    await apply(name, 'ours', { count: 1, list: [{ key: 'a' }, { key: 'b' }] });
    const theirs = {
      spec: {
        list: [
          { key: 'a', value: 3 },
          { key: 'b', value: 7 },
        ],
      },
    };
    const query = { fieldManager: 'theirs' };
    await wire.call('PATCH', widgets(name), { type: MERGE, body: theirs, query });
    await apply(name, 'ours', { count: 1, list: [{ key: 'b' }] });
    // nobody is left to be in conflict with
    const { status, body } = await apply(name, 'ours', {
      count: 1,
      list: [{ key: 'a', value: 4 }, { key: 'b' }],
    });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(
      body.metadata.managedFields
        .filter(({ manager }: { manager: string }) => manager === 'theirs')
        .map(({ fieldsV1 }: { fieldsV1: object }) => JSON.stringify(fieldsV1))
        .filter((fields: string) => fields.includes('value')),
      [],
    );
  });
});

test('an update of a custom resource must name the version that it replaces', async () => {
  const name = freshName();
  const first = await wire.call('POST', widgets(), { body: aWidget(name) });
  for (const path of [widgets(name), `${widgets(name)}/status`]) {
    const reply = await wire.call('PUT', path, { body: aWidget(name, { count: 2 }) });
    assert.deepEqual(refused(reply), { status: 422, code: 422, kind: 'Status', reason: 'Invalid' });
    assert.match(
      reply.body.message,
      /metadata\.resourceVersion: Invalid value: 0: must be specified for an update$/,
    );
  }
  const { resourceVersion } = first.body.metadata;
  const second = await wire.call('PUT', widgets(name), {
    body: aWidget(name, { count: 2 }, { resourceVersion }),
  });
  assert.equal(second.body.spec.count, 2);
});

test('a strategic merge patch is for built-in kinds only', async () => {
  const name = freshName();
  await wire.call('POST', widgets(), { body: aWidget(name) });
  const reply = await wire.call('PATCH', widgets(name), { type: STRATEGIC, body: { spec: { count: 2 } } });
  assert.equal(reply.status, 415);
  assert.doesNotMatch(reply.body.message, /strategic/);
});

test('custom resources go with their definition and do not come back with it', async () => {
  const name = freshName();
  assert.equal((await wire.call('POST', widgets(), { body: aWidget(name) })).status, 201);
  await wire.call('DELETE', `${CRDS}/${CRD.metadata.name}`);
  await until(async () => (await wire.call('GET', `${CRDS}/${CRD.metadata.name}`)).status === 404);
  await serve();
  assert.equal((await wire.call('GET', widgets(name))).status, 404);
});
