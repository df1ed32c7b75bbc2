import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newSecret, SECRET_KEY } from '../desired/secret.ts';
import { aMysql, someSettings } from '../desired/testing.ts';
import { accessOf } from './access.ts';

const secret = newSecret(aMysql(), someSettings().newPassword);

test('the Secret gives two accounts and the group’s name', () => {
  const access = accessOf(secret);
  assert.deepEqual(access?.operator, { user: 'mysql_operator', password: 'password-1' });
  assert.deepEqual(access?.replication, { user: 'mysql_replication', password: 'password-2' });
  assert.match(access?.groupName ?? '', /^[0-9a-f-]{36}$/);
});

test('without a Secret, or without one of their keys, there is no access', () => {
  assert.equal(accessOf(undefined), undefined);
  for (const key of [SECRET_KEY.operator, SECRET_KEY.replication, SECRET_KEY.groupName]) {
    assert.equal(accessOf({ ...secret, data: { ...secret.data, [key]: '' } }), undefined);
  }
});

test('root’s password is the user’s affair and not needed', () => {
  assert.deepEqual(
    accessOf({ ...secret, data: { ...secret.data, [SECRET_KEY.root]: '' } }),
    accessOf(secret),
  );
});

test('a line break at the end belongs to the file and not to the password', () => {
  const data = { ...secret.data, [SECRET_KEY.operator]: Buffer.from('typed\n').toString('base64') };
  assert.equal(accessOf({ ...secret, data })?.operator.password, 'typed');
});
