import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duration, evaluate } from './table.ts';

const NOW = new Date('2026-01-02T00:00:00Z');
const ago = (seconds: number) => duration(new Date(NOW.getTime() - seconds * 1_000).toISOString(), NOW);

for (const [seconds, shown] of [
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [125, '2m5s'],
  [599, '9m59s'],
  [605, '10m'],
  [10_799, '179m'],
  [10_800, '3h'],
  [11_100, '3h5m'],
  [28_800, '8h'],
  [172_799, '47h'],
  [172_800, '2d'],
] as const)
  test(`${seconds} seconds are shown as ${shown}`, () => assert.equal(ago(seconds), shown));

test('a time that is none has no age', () => assert.equal(duration('soon', NOW), '<unknown>'));

const object = {
  status: {
    nodes: ['a', 'b'],
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Degraded', status: 'False' },
    ],
  },
};
for (const [path, value] of [
  ['.status.nodes[1]', 'b'],
  ['.status.conditions[?(@.type=="Degraded")].status', 'False'],
  ['.status.conditions[?(@.type=="Absent")].status', undefined],
  ['.status.nothing[0].here', undefined],
] as const)
  test(`${path} is ${value ?? 'not there'}`, () => assert.equal(evaluate(path, object), value));
