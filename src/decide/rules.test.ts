import assert from 'node:assert/strict';
import { test } from 'node:test';
import { factsOf } from './facts.ts';
import { fullOutage } from './full-outage.ts';
import { rules } from './rules.ts';
import { aCluster } from './testing.ts';

test('without a group no rule after the outage matches, wherever it stands in the list', () => {
  const later = rules.slice(rules.indexOf(fullOutage) + 1);
  assert.ok(later.length > 0);
  const scenes = [
    aCluster({ size: 1, primary: 0 }).replicas(3),
    aCluster({ size: 5, primary: 1 }).replicas(3).pod(2, { outdated: true }),
    aCluster().inView('v', [0], { primary: 0, sees: { 1: 'ONLINE', 2: 'ONLINE' } }),
  ];
  for (const scene of scenes) {
    const facts = factsOf(scene.observed());
    assert.equal(facts.group, undefined);
    assert.deepEqual(
      later.map((rule) => rule(facts)),
      later.map(() => undefined),
    );
  }
});
