import assert from 'node:assert/strict';
import { test } from 'node:test';
import { concernOf, type Hint } from './concern.ts';

const nothing = {
  subject: undefined,
  kind: undefined,
  apiversion: undefined,
  name: undefined,
  namespace: undefined,
};
const nudge = (subject: string | undefined): Hint => ({
  ...nothing,
  type: 'com.example.mysql.nudge',
  subject,
});
const ofMysql: Hint = {
  type: 'dev.knative.apiserver.ref.update',
  subject: '/apis/example.com/v1alpha1/namespaces/shop/mysqls/orders',
  kind: 'Mysql',
  apiversion: 'example.com/v1alpha1',
  name: 'orders',
  namespace: 'shop',
};
const ofPod: Hint = {
  type: 'dev.knative.apiserver.resource.delete',
  subject: '/apis/v1/namespaces/shop/pods/orders-0',
  kind: 'Pod',
  apiversion: 'v1',
  name: 'orders-0',
  namespace: 'shop',
};
const refOf = (hint: Hint) => {
  const concern = concernOf(hint);
  return concern.is === 'mysql' ? `${concern.ref.namespace}/${concern.ref.name}` : concern.is;
};

test('an event of a Mysql concerns that Mysql', () => {
  assert.equal(refOf(ofMysql), 'shop/orders');
});

test('an event of a pod concerns the Mysql whose name it carries before its ordinal', () => {
  assert.equal(refOf(ofPod), 'shop/orders');
  assert.equal(refOf({ ...ofPod, name: 'orders-eu-12' }), 'shop/orders-eu');
});

test('a pod that no StatefulSet names concerns nobody', () => {
  for (const name of ['orders', 'orders-x', 'orders-01', 'fx-pod'])
    assert.equal(refOf({ ...ofPod, name }), 'nobody');
});

test('the subject alone is enough when the extensions are missing', () => {
  assert.equal(refOf({ ...nothing, type: ofMysql.type, subject: ofMysql.subject }), 'shop/orders');
  assert.equal(refOf({ ...nothing, type: ofPod.type, subject: ofPod.subject }), 'shop/orders');
});

test('our own types name the Mysql by their subject', () => {
  assert.equal(refOf(nudge('shop/orders')), 'shop/orders');
  assert.equal(refOf({ ...nudge('shop/orders'), type: 'com.example.mysql.resync' }), 'shop/orders');
});

test('a name that Kubernetes would not give is malformed: it never becomes part of a request', () => {
  const names = ['', '..', 'a/../b', 'A', 'a_b', '-a', 'a-', 'a..b', 'a'.repeat(254), 'a b', 'a%2fb'];
  for (const name of names) {
    assert.equal(refOf({ ...ofMysql, name }), 'malformed', name);
    assert.equal(refOf(nudge(`shop/${name}`)), 'malformed', name);
  }
  for (const namespace of ['a.b', 'a'.repeat(64), 'Shop']) {
    assert.equal(refOf({ ...ofMysql, namespace }), 'malformed', namespace);
  }
  for (const subject of [undefined, 'orders', 'shop/orders/0', '/orders'])
    assert.equal(refOf(nudge(subject)), 'malformed');
});

test('other kinds, other groups and other types concern nobody', () => {
  assert.equal(refOf({ ...ofMysql, kind: 'Deployment', apiversion: 'apps/v1' }), 'nobody');
  assert.equal(refOf({ ...ofMysql, apiversion: 'other.example.org/v1' }), 'nobody');
  assert.equal(refOf({ ...ofMysql, type: 'com.github.push' }), 'nobody');
  assert.equal(refOf({ ...ofMysql, type: 'dev.knative.apiserver.ref.unheard' }), 'nobody');
});

test('an event of the adapter that names no object is malformed', () => {
  assert.equal(refOf({ ...nothing, type: ofMysql.type }), 'malformed');
});
