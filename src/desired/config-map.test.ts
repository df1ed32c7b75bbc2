import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from './config-map.ts';
import { groupName } from './secret.ts';
import { aMysql, someSettings } from './testing.ts';

const settings = someSettings();

test('holds the scripts, my.cnf and the address for nudges', () => {
  const { data } = configMap(aMysql({ config: { max_connections: '500' } }), undefined, settings);
  assert.deepEqual(Object.keys(data ?? {}).sort(), ['my.cnf', 'nudge-url', 'run.sh']);
  assert.equal(data?.['nudge-url'], settings.nudgeUrl);
  assert.equal(data?.['run.sh'], settings.scripts['run.sh']);
  assert.match(data?.['my.cnf'] ?? '', /^max_connections = 500$/m);
});

test('the group’s name is the one in the live Secret; before there is one, the one that it will get', () => {
  const nameIn = (live: string | undefined) =>
    /^loose_group_replication_group_name = (.*)$/m.exec(
      configMap(aMysql(), live, settings).data?.['my.cnf'] ?? '',
    )?.[1];
  assert.equal(nameIn('11111111-2222-5333-8444-555555555555'), '11111111-2222-5333-8444-555555555555');
  assert.equal(nameIn(undefined), groupName('shop', 'db'));
});
