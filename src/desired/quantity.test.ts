import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { quantity } from './quantity.ts';

const equal = [
  ['0.1', '100m'],
  ['0.7', '700m'],
  ['1', 1],
  ['1024Mi', '1Gi'],
  ['1.5Gi', '1536Mi'],
  ['0.1Gi', '107374182400m'],
  ['1.1k', '1100'],
  ['1e3', '1k'],
  ['1E3', '1000'],
  ['2E', '2000P'],
  ['.5', '0.5'],
  ['5.', '5'],
] as const;

for (const [a, b] of equal) {
  test(`${a} is ${b}`, () => {
    assert.notEqual(quantity(a), undefined);
    assert.equal(quantity(a), quantity(b));
  });
}

test('larger is larger, across decimal and binary units', () => {
  const sorted = [
    '1n',
    '1u',
    '1m',
    '1',
    '1k',
    '1Ki',
    '1M',
    '1Mi',
    '1G',
    '1Gi',
    '1T',
    '1Ti',
    '1P',
    '1Pi',
    '1E',
  ];
  const values = sorted.map((one) => quantity(one) ?? Number.NaN);
  assert.deepEqual(
    values,
    values.toSorted((a, b) => a - b),
  );
});

for (const text of ['', 'much', '10 Gi', '10gi', '1.2.3', '1e', 'Gi', '0x10', '1Kii']) {
  test(`${JSON.stringify(text)} is no quantity`, () => assert.equal(quantity(text), undefined));
}

test('thousandths are the same in either form', () => {
  fc.assert(
    fc.property(fc.nat(10_000_000), (thousandths) => {
      const whole = Math.floor(thousandths / 1_000);
      const rest = `${thousandths % 1_000}`.padStart(3, '0');
      assert.equal(quantity(`${whole}.${rest}`), quantity(`${thousandths}m`));
    }),
  );
});
