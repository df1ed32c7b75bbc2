/** A fixed part of all plans: every workload and every kind, evenly. `npm run plans` runs all of them. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { describe, test } from 'node:test';
import { runAll } from './crew.ts';
import { KINDS } from './kinds.ts';
import { plansOf, sequences, thinned, type Verdict } from './plan.ts';
import { WORKLOADS } from './workloads.ts';

const PLANS = 2_000;

describe('plans', () => {
  test(`${PLANS} of them end as if nothing had gone wrong`, async () => {
    const all = [
      ...(await plansOf({ workloads: WORKLOADS, kinds: KINDS, combined: 100, seed: 1 })),
      ...sequences(1_000, 1),
    ];
    assert.ok(all.length >= 10_000, `${all.length} plans in all`);
    const ids = thinned(all, PLANS);
    assert.equal(new Set(ids).size, PLANS);
    const verdicts: Verdict[] = [];
    await runAll(ids, availableParallelism(), (verdict) => verdicts.push(verdict));
    assert.equal(verdicts.length, PLANS);
    assert.deepEqual(
      verdicts.filter(({ faults }) => faults.length > 0),
      [],
    );
  });
});
