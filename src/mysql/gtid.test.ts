import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  contains,
  formatGtidSet,
  type GtidSet,
  isEmpty,
  parseGtidSet,
  sameGtids,
  subtract,
  union,
} from './gtid.ts';

const A = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const B = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb';
const normal = (text: string) => formatGtidSet(parseGtidSet(text));

test('reads what MySQL prints: line breaks, capitals, overlaps, tags', () => {
  assert.equal(normal(`${B}:1-3:4,\n${A.toUpperCase()}:7`), `${A}:7,${B}:1-4`);
  assert.equal(normal(`${A}:1-5:3-9:11`), `${A}:1-9:11`);
  assert.equal(normal(`${A}:1-2:backup:5-6`), `${A}:1-2,${A}:backup:5-6`);
  assert.equal(normal(''), '');
});

test('refuses what is none', () => {
  for (const text of ['x', `${A}:0`, `${A}:5-4`, `${A}:1-`, `${A}:-`, 'aaaa:1', A, `${A}:`, `${A}:1:tag`]) {
    assert.throws(() => parseGtidSet(text), SyntaxError, text);
  }
});

test('tells what one has and the other lacks', () => {
  assert.equal(
    formatGtidSet(subtract(parseGtidSet(`${A}:1-10,${B}:1`), parseGtidSet(`${A}:3-4:9`))),
    `${A}:1-2:5-8:10,${B}:1`,
  );
  assert.ok(contains(parseGtidSet(`${A}:1-10`), parseGtidSet(`${A}:2-3`)));
  assert.ok(!contains(parseGtidSet(`${A}:1-10`), parseGtidSet(`${A}:backup:2`)));
});

const interval = fc
  .tuple(fc.integer({ min: 1, max: 60 }), fc.nat(8))
  .map(([first, more]) => `${first}-${first + more}`);
const sets = fc
  .array(fc.tuple(fc.constantFrom(A, B, `${A}:tag`), fc.array(interval, { minLength: 1, maxLength: 4 })), {
    maxLength: 4,
  })
  .map((parts) => parseGtidSet(parts.map(([source, list]) => [source, ...list].join(':')).join(',')));

/** The set as plain members: an oracle that knows nothing of intervals. */
const elements = (set: GtidSet) =>
  new Set(
    [...set].flatMap(([source, intervals]) =>
      intervals.flatMap(([first, last]) =>
        Array.from({ length: last - first + 1 }, (_, index) => `${source}:${first + index}`),
      ),
    ),
  );

test('agrees with sets of single transactions', () => {
  fc.assert(
    fc.property(sets, sets, (a, b) => {
      assert.deepEqual(elements(union(a, b)), elements(a).union(elements(b)));
      assert.deepEqual(elements(subtract(a, b)), elements(a).difference(elements(b)));
      assert.equal(contains(a, b), elements(b).isSubsetOf(elements(a)));
      assert.equal(isEmpty(a), elements(a).size === 0);
    }),
    { numRuns: 1_000 },
  );
});

test('behaves as sets do', () => {
  fc.assert(
    fc.property(sets, sets, (a, b) => {
      assert.ok(contains(union(a, b), a) && contains(union(a, b), b));
      assert.ok(sameGtids(union(subtract(a, b), b), union(a, b)));
      assert.ok(isEmpty(subtract(a, a)));
      assert.ok(contains(a, subtract(a, b)));
      assert.ok(sameGtids(parseGtidSet(formatGtidSet(a)), a));
    }),
    { numRuns: 1_000 },
  );
});
