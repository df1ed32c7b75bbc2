import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { myCnf, refusedConfig } from './config.ts';

const GROUP = 'aaaaaaaa-aaaa-5aaa-8aaa-aaaaaaaaaaaa';

describe('spec.config', () => {
  test('what users tune is taken', () => {
    const config = {
      max_connections: '500',
      'innodb-buffer-pool-size': '1G',
      sql_mode: '',
      long_query_time: '0.5',
    };
    assert.deepEqual(refusedConfig(config), []);
    assert.deepEqual(refusedConfig(undefined), []);
  });

  test('what the operator needs for itself is refused by name, however it is written', () => {
    for (const name of [
      'server_id',
      'SERVER-ID',
      'loose_server_id',
      'gtid_mode',
      'group_replication_bootstrap_group',
      'loose-group-replication-start-on-boot',
      'super_read_only',
      'read_only',
      'datadir',
      'socket',
      'port',
      'report_host',
      'init_file',
      'log_bin',
      'skip_networking',
      'plugin-load-add',
    ]) {
      const [sentence = ''] = refusedConfig({ [name]: '1' });
      assert.ok(sentence.startsWith(`spec.config.${name} `), name);
      assert.match(sentence, /remove it/);
    }
  });

  test('a name or a value that would write another setting is refused', () => {
    assert.match(refusedConfig({ 'a b': '1' })[0] ?? '', /no name of a mysqld variable/);
    assert.match(refusedConfig({ '!include': '/etc/passwd' })[0] ?? '', /no name/);
    assert.match(refusedConfig({ sql_mode: 'a\n[mysqld]\nport=1' })[0] ?? '', /line breaks/);
  });
});

describe('my.cnf', () => {
  const lines = (config?: Record<string, string>) => myCnf(GROUP, config).split('\n');

  test('holds what durability and the group rest on', () => {
    for (const line of [
      'sync_binlog = 1',
      'innodb_flush_log_at_trx_commit = 1',
      'gtid_mode = ON',
      'super_read_only = ON',
      'loose_group_replication_start_on_boot = OFF',
      'loose_group_replication_bootstrap_group = OFF',
      'loose_group_replication_member_expel_timeout = 0',
      `loose_group_replication_group_name = ${GROUP}`,
    ]) {
      assert.ok(lines().includes(line), line);
    }
  });

  test('the user’s variables come last and sorted, so that the same settings give the same file', () => {
    const one = myCnf(GROUP, { b: '2', a: '1' });
    assert.equal(one, myCnf(GROUP, { a: '1', b: '2' }));
    assert.deepEqual(lines({ 'max-connections': '5', a: '1' }).slice(-4), [
      '# spec.config',
      'a = 1',
      'max_connections = 5',
      '',
    ]);
  });

  test('a value is quoted when the file would read it otherwise', () => {
    const written = (value: string) => lines({ v: value }).find((line) => line.startsWith('v = '));
    assert.equal(written('a # b'), 'v = "a # b"');
    assert.equal(written('say "x" \\ y'), 'v = "say \\"x\\" \\\\ y"');
    assert.equal(written('ONLY_FULL_GROUP_BY,NO_ZERO_DATE'), 'v = ONLY_FULL_GROUP_BY,NO_ZERO_DATE');
  });
});
