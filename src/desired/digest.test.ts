import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ANNOTATION } from '../resource/names.ts';
import { digest, isHeldBy, withDigest } from './digest.ts';

describe('the digest', () => {
  test('does not depend on the order of keys, nor on keys without a value', () => {
    assert.equal(digest({ a: 1, b: { c: 2, d: 3 } }), digest({ b: { d: 3, c: 2, e: undefined }, a: 1 }));
  });

  test('depends on every value, and on the order of a list', () => {
    const all = [{ a: 1 }, { a: '1' }, { a: null }, { a: [1, 2] }, { a: [2, 1] }, { a: { b: 1 } }, {}];
    assert.equal(new Set(all.map(digest)).size, all.length);
  });

  test('stands beside the annotations that are there, and is not part of itself', () => {
    const object = { metadata: { name: 'x', annotations: { mine: 'stays' } } };
    const marked = withDigest(object);
    assert.deepEqual(marked.metadata?.annotations, { mine: 'stays', [ANNOTATION.applied]: digest(object) });
  });
});

describe('what is wanted is held by', () => {
  const held: Record<string, readonly [wanted: unknown, live: unknown]> = {
    'more fields, as the API server fills in defaults': [{ a: 1 }, { a: 1, b: 2 }],
    'the same amount in another notation': [
      { cpu: '0.1', memory: '1Gi' },
      { cpu: '100m', memory: '1024Mi' },
    ],
    'an amount that became a string': [{ cpu: 1 }, { cpu: '1' }],
    'named items in another order, with defaults': [
      [{ name: 'a' }, { name: 'b' }],
      [{ name: 'b', x: 1 }, { name: 'a' }],
    ],
    'named items beside those of somebody else, which an apply would leave there too': [
      [{ name: 'mysql', port: 3306 }],
      [
        { name: 'metrics', port: 9104 },
        { name: 'mysql', port: 3306 },
      ],
    ],
    'two items of one name, each by itself': [
      [
        { name: 'data', mountPath: '/a' },
        { name: 'data', mountPath: '/b' },
      ],
      [
        { name: 'data', mountPath: '/b' },
        { name: 'data', mountPath: '/a' },
      ],
    ],
    'nothing at all, when only an empty map is wanted': [{ emptyDir: {} }, {}],
  };
  for (const [what, [wanted, live]] of Object.entries(held)) {
    test(what, () => assert.ok(isHeldBy(wanted, live)));
  }
});

describe('what is wanted is not held by', () => {
  const changed: Record<string, readonly [wanted: unknown, live: unknown]> = {
    'another value': [{ a: 'x' }, { a: 'y' }],
    'another amount': [{ memory: '1Gi' }, { memory: '1G' }],
    'a value of another type that is no amount': [{ a: true }, { a: 'true' }],
    'a missing field': [{ a: { b: 1 } }, { a: {} }],
    'a missing object': [{ a: 1 }, undefined],
    'a list without the named item': [[{ name: 'a' }], [{ name: 'b' }]],
    'a named item that was changed': [[{ name: 'a', port: 1 }], [{ name: 'a', port: 2 }]],
    'a plain list with one more value': [['ALL'], ['ALL', 'NET_ADMIN']],
    'a plain list in another order': [
      ['bash', 'run.sh'],
      ['run.sh', 'bash'],
    ],
  };
  for (const [what, [wanted, live]] of Object.entries(changed)) {
    test(what, () => assert.ok(!isHeldBy(wanted, live)));
  }
});

test('everything holds itself', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => assert.ok(isHeldBy(value, structuredClone(value)))));
});
