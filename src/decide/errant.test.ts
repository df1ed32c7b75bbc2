import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANNOTATION } from '../resource/names.ts';
import { aCluster, gtids, orders, ownGtids } from './testing.ts';

/** db-2 has a transaction that the group does not have. */
const strayed = () =>
  aCluster()
    .inView('v', [0, 1], { primary: 0 })
    .offline(2, `${gtids('1-9')},${ownGtids(2, '1')}`);

test('it is named with its transactions, kept out, and the way out is told', () => {
  const { verdict } = strayed().decide();
  assert.equal(verdict.state, 'Errant');
  assert.ok(verdict.message.includes(`db-2 holds ${ownGtids(2, '1')}:`), verdict.message);
  assert.match(verdict.message, /annotate with mysql.example.com\/rebuild: db-2/);
  assert.deepEqual(orders(verdict), []);
  assert.equal(verdict.transitional, false);
});

test('only the annotation that names it has it rebuilt, from a secondary', () => {
  const rebuilding = (name: string) =>
    orders(
      strayed()
        .annotated({ [ANNOTATION.rebuild]: name })
        .decide().verdict,
    );
  assert.deepEqual(rebuilding('db-9'), []);
  assert.deepEqual(rebuilding('db-2'), ['rebuild db-2 from db-1']);
});

test('a secondary that does not answer is no donor; the primary is the last choice', () => {
  const four = aCluster({ size: 4 })
    .inView('v', [0, 1, 3], { primary: 0 })
    .offline(2, ownGtids(2, '1'))
    .annotated({ [ANNOTATION.rebuild]: 'db-2' })
    .silent(1);
  assert.deepEqual(orders(four.decide().verdict), ['rebuild db-2 from db-3']);

  const two = aCluster({ size: 2 }).inView('v', [0], { primary: 0 }).offline(1, ownGtids(1, '1'));
  assert.deepEqual(orders(two.annotated({ [ANNOTATION.rebuild]: 'db-1' }).decide().verdict), [
    'rebuild db-1 from db-0',
  ]);
});

test('a rebuild that is under way is not ordered twice', () => {
  const cluster = strayed().offline(2, ownGtids(2, '1'), { cloning: true });
  const { verdict } = cluster.annotated({ [ANNOTATION.rebuild]: 'db-2' }).decide();
  assert.equal(verdict.state, 'Errant');
  assert.deepEqual(orders(verdict), []);
  assert.equal(verdict.transitional, true);
});

test('after its rebuild it joins, and the annotation goes once it is ONLINE', () => {
  const wish = { [ANNOTATION.rebuild]: 'db-2' };
  const clean = strayed().offline(2, gtids('1-9')).annotated(wish).decide().verdict;
  assert.deepEqual(orders(clean), ['join db-2 to db-0, db-1']);
  const back = aCluster().online().annotated(wish).decide().verdict;
  assert.deepEqual(orders(back), [`remove ${ANNOTATION.rebuild}`]);
});

test('one that is to go anyway holds nothing up', () => {
  assert.equal(strayed().spec({ size: 2 }).decide().verdict.state, 'ScalingDown');
});
