/** The list of guards cannot rot: each still stands where it is said to stand, and what is left without it is a program. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { guards } from './guards.ts';
import { PLANS, without } from './mutate.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('guards', () => {
  for (const guard of guards) {
    test(`${guard.name} stands where it is said to stand`, () => {
      const source = readFileSync(join(ROOT, guard.file), 'utf8');
      const mutated = without(guard, source);
      assert.notEqual(stripTypeScriptTypes(mutated), stripTypeScriptTypes(source));
      for (const killer of guard.killers)
        assert.ok(killer.startsWith(PLANS) || existsSync(join(ROOT, killer)), `there is no ${killer}`);
    });
  }

  test('each has a name of its own', () => {
    assert.equal(new Set(guards.map(({ name }) => name)).size, guards.length);
    assert.ok(guards.length >= 25);
    assert.ok(globSync('src/**/*.ts', { cwd: ROOT }).length > 0);
  });
});
