import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MysqlSpec } from '../resource/mysql.ts';
import { aCluster, orders, writes } from './testing.ts';

const faults: readonly (readonly [what: string, spec: Partial<MysqlSpec>, field: string])[] = [
  ['a size that is no whole number', { size: 2.5 }, 'spec.size'],
  ['a size of ten', { size: 10 }, 'spec.size'],
  ['a size below zero', { size: -1 }, 'spec.size'],
  ['an empty image', { image: ' ' }, 'spec.image'],
  ['a storage size that is no quantity', { storage: { size: 'much' } }, 'spec.storage.size'],
  ['no storage at all', { storage: { size: '0' } }, 'spec.storage.size'],
  ['a primary beyond the members', { primary: 3 }, 'spec.primary'],
  ['a primary below zero', { primary: -1 }, 'spec.primary'],
  ['a reserved variable', { config: { 'group-replication-group-name': 'x' } }, 'spec.config.group-rep'],
  ['a line break in a variable', { config: { sql_mode: 'a\nb' } }, 'spec.config.sql_mode'],
];

for (const [what, spec, field] of faults) {
  test(`${what} is named, and no object is touched`, () => {
    const cluster = aCluster()
      .replicas(3)
      .online()
      .child('configMap', () => undefined);
    const { verdict } = cluster.spec(spec).decide();
    assert.equal(verdict.state, 'Invalid');
    assert.ok(verdict.message.includes(field), verdict.message);
    assert.deepEqual(verdict.actions, []);
    assert.equal(verdict.transitional, false);
  });
}

for (const name of ['1db', 'd.b', 'Db', 'db-', 'd'.repeat(41)]) {
  test(`the name ${name} is refused`, () => {
    assert.equal(aCluster().named(name).decide().verdict.state, 'Invalid');
  });
}

test('all faults are named at once', () => {
  const { message } = aCluster({ size: 10, image: '', config: { port: '1' } })
    .replicas(0)
    .decide().verdict;
  assert.match(message, /spec\.size.*spec\.image.*spec\.config\.port/);
});

test('labels and joins go on', () => {
  const cluster = aCluster({ config: { port: '1' } })
    .online(0)
    .inView('v', [0, 1], { primary: 1 });
  const { verdict } = cluster.offline(2).decide();
  assert.equal(verdict.state, 'Invalid');
  assert.deepEqual(writes(verdict), ['relabel db-0', 'relabel db-1', 'relabel db-2']);
  assert.deepEqual(orders(verdict), ['join db-2 to db-0, db-1']);
});
