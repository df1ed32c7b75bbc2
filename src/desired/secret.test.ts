import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Secret } from 'kubernetes-types/core/v1.d.ts';
import { ownerReference } from './owner.ts';
import { groupName, mendedSecret, newSecret, SECRET_KEY, valueIn } from './secret.ts';
import { aMysql, someSettings } from './testing.ts';

const retained = aMysql();
const deleted = aMysql({ storage: { whenDeleted: 'Delete' } });

const { newPassword } = someSettings();
const complete = newSecret(retained, newPassword);

function without(...keys: string[]): Secret {
  const data = Object.entries(complete.data ?? {}).filter(([key]) => !keys.includes(key));
  return { ...complete, data: Object.fromEntries(data) };
}

describe('a new Secret', () => {
  test('has a password for each account and the group’s name', () => {
    assert.deepEqual(Object.keys(complete.data ?? {}).sort(), Object.values(SECRET_KEY).sort());
    const passwords = [SECRET_KEY.operator, SECRET_KEY.replication, SECRET_KEY.root].map((key) =>
      valueIn(complete, key),
    );
    assert.deepEqual(passwords, ['password-1', 'password-2', 'password-3']);
  });

  test('has no owner, as it may have to live on', () => {
    assert.equal(complete.metadata?.ownerReferences, undefined);
    assert.equal(newSecret(deleted, newPassword).metadata?.ownerReferences, undefined);
  });
});

describe('a live Secret', () => {
  test('is left alone when it has every key, whatever the values are', () => {
    const own = { ...complete, data: { ...complete.data, [SECRET_KEY.root]: 'bWluZQ==', extra: 'eA==' } };
    assert.equal(mendedSecret(own, retained, newPassword), undefined);
  });

  for (const key of Object.values(SECRET_KEY)) {
    test(`gets ${key} again when it lacks it, and keeps the others`, () => {
      const mended = mendedSecret(without(key), retained, newPassword);
      const { [key]: fresh, ...rest } = mended?.data ?? {};
      assert.ok(fresh);
      assert.deepEqual(rest, without(key).data);
    });
  }

  test('that has an empty value lacks it', () => {
    const empty = { ...complete, data: { ...complete.data, [SECRET_KEY.operator]: '' } };
    assert.match(valueIn(mendedSecret(empty, retained, newPassword), SECRET_KEY.operator) ?? '', /^password/);
  });

  test('without data gets all of it', () => {
    const { data, ...bare } = complete;
    assert.deepEqual(
      Object.keys(mendedSecret(bare, retained, newPassword)?.data ?? {}),
      Object.keys(data ?? {}),
    );
  });

  test('is owned while it goes with the Mysql, and no longer once it is retained', () => {
    const owned = mendedSecret(complete, deleted, newPassword);
    assert.deepEqual(owned?.metadata?.ownerReferences, [ownerReference(deleted)]);
    assert.deepEqual(owned?.data, complete.data);
    assert.ok(owned);
    assert.equal(mendedSecret(owned, deleted, newPassword), undefined);
    const released = mendedSecret(owned, retained, newPassword);
    assert.ok(released);
    assert.equal(released.metadata?.ownerReferences, undefined);
  });
});

describe('the group’s name', () => {
  test('is a UUID of version 5 layout', () => {
    assert.match(
      groupName('shop', 'db'),
      /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  test('is the same again for the same Mysql, and another one in another namespace', () => {
    assert.equal(groupName('shop', 'db'), groupName('shop', 'db'));
    assert.notEqual(groupName('shop', 'db'), groupName('stage', 'db'));
    assert.notEqual(groupName('a', 'b-c'), groupName('a-b', 'c'));
  });
});
