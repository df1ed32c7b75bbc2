import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasTurn } from './schedule.ts';

const uids = Array.from(
  { length: 1_000 },
  (_, index) => `0b1f3c1e-6b8d-4f0a-9a51-${String(index).padStart(12, '0')}`,
);
const at = (minute: number, second = 0) => new Date(Date.UTC(2026, 0, 1, 12, minute, second));

for (const period of [1, 5, 7, 15, 60]) {
  test(`run every ${period} minutes, each Mysql has its turn once an hour, and the runs are about equal`, () => {
    const turns = new Map<string, number>();
    const sizes: number[] = [];
    for (let minute = 0; minute + period <= 60; minute += period) {
      const due = uids.filter((uid) => hasTurn(uid, at(minute, 4), period));
      sizes.push(due.length);
      for (const uid of due) turns.set(uid, (turns.get(uid) ?? 0) + 1);
    }
    assert.equal(turns.size, uids.length);
    assert.ok([...turns.values()].every((count) => count === 1));
    const fair = uids.length / sizes.length;
    assert.ok(
      sizes.every((size) => size > fair * 0.3 && size < fair * 2),
      `${sizes}`,
    );
  });
}

test('a run that starts late within its period still takes its own share', () => {
  const due = (minute: number) => uids.filter((uid) => hasTurn(uid, at(minute), 5));
  assert.deepEqual(due(10), due(14));
});
