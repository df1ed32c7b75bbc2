import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCluster } from './testing.ts';

test('a paused Mysql is left alone: no labels, no joins, no missing objects', () => {
  const cluster = aCluster({ paused: true, image: 'mysql:9.0' })
    .inView('v', [0, 1], { primary: 0 })
    .offline(2);
  const { verdict } = cluster.child('secret', () => undefined).decide();
  assert.equal(verdict.state, 'Paused');
  assert.deepEqual(verdict.actions, []);
  assert.equal(verdict.transitional, false);
});
