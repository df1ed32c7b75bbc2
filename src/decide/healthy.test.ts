import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCluster } from './testing.ts';

for (const size of [1, 2, 3, 5]) {
  test(`a settled cluster of ${size} is Healthy, and nothing is done`, () => {
    const { verdict } = aCluster({ size }).online().decide();
    assert.equal(verdict.state, 'Healthy');
    assert.deepEqual(verdict.actions, []);
    assert.equal(verdict.transitional, false);
    assert.match(verdict.message, /db-0 accepts|db-0 is ONLINE/);
  });
}
