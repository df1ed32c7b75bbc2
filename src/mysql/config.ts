/**
 * my.cnf, as far as it is the same for every member and version; what depends on them (server_id, report_host, buffer sizes,
 * settings of one version) is added by scripts/run.sh, which knows the server. Settings of Group Replication carry `loose_`: they are
 * unknown while mysqld initialises a data directory.
 */

/** What the operator needs for itself. Without `loose_`, with underscores. A pattern ends in `*`. */
const RESERVED: readonly string[] = [
  'admin_address',
  'autocommit',
  'basedir',
  'binlog_checksum',
  'binlog_format',
  'bind_address',
  'clone_*',
  'datadir',
  'default_authentication_plugin',
  'disabled_storage_engines',
  'enforce_gtid_consistency',
  'group_replication*',
  'gtid_*',
  'init_file',
  'log_bin*',
  'log_error',
  'log_replica_updates',
  'log_slave_updates',
  'master_info_repository',
  'mysqlx*',
  'pid_file',
  'plugin_dir',
  'plugin_load*',
  'port',
  'read_only',
  'relay_log*',
  'report_*',
  'server_id',
  'server_uuid',
  'skip_*',
  'socket',
  'super_read_only',
  'tmpdir',
  'transaction_write_set_extraction',
  'user',
];

const VARIABLE = /^[a-z][a-z0-9_]*$/;

/** mysqld takes dashes for underscores, any case, and the prefix loose_. */
const normal = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll('-', '_')
    .replace(/^loose_/, '');

const isReserved = (name: string): boolean =>
  RESERVED.some((one) =>
    one.endsWith('*') ? normal(name).startsWith(one.slice(0, -1)) : normal(name) === one,
  );

/** What of spec.config cannot be taken, one sentence each that names the field and the way out; empty when all is well. */
export function refusedConfig(config: Readonly<Record<string, string>> | undefined): readonly string[] {
  return Object.entries(config ?? {}).flatMap(([name, value]) => {
    if (!VARIABLE.test(normal(name))) {
      return `spec.config: ${JSON.stringify(name)} is no name of a mysqld variable: use letters, digits and "_"`;
    }
    if (isReserved(name)) return `spec.config.${name} is set by the operator itself: remove it`;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a line break would begin another setting
    if (/[\x00-\x1f]/.test(value))
      return `spec.config.${name} may not hold line breaks or control characters`;
    return [];
  });
}

/** The shared part of my.cnf; `config` must have passed refusedConfig. Sorted, so that the same settings give the same file. */
export function myCnf(groupName: string, config: Readonly<Record<string, string>> | undefined): string {
  const user = Object.entries(config ?? {})
    .map(([name, value]) => [normal(name), value] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name} = ${quoted(value)}`);
  return [
    ...BASE,
    `loose_group_replication_group_name = ${groupName}`,
    '',
    '# spec.config',
    ...user,
    '',
  ].join('\n');
}

/** Quotes keep `#` and spaces; a backslash is an escape in option files (MySQL manual, "Using Option Files"). */
const quoted = (value: string): string =>
  /^[A-Za-z0-9_.:/,+-]*$/.test(value) ? value : `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

const BASE: readonly string[] = [
  '# Written by mysql-operator: changes are overwritten. Set variables in spec.config of the Mysql.',
  '[mysqld]',
  '# every acknowledged write is on disk',
  'sync_binlog = 1',
  'innodb_flush_log_at_trx_commit = 1',
  '# what Group Replication asks for',
  'gtid_mode = ON',
  'enforce_gtid_consistency = ON',
  'log_bin = binlog',
  'binlog_format = ROW',
  'relay_log = relay',
  'disabled_storage_engines = "MyISAM,BLACKHOLE,FEDERATED,ARCHIVE,MEMORY"',
  '# a started member serves nothing stale: it is read-only until the group makes it the primary',
  'super_read_only = ON',
  'loose_group_replication_start_on_boot = OFF',
  'loose_group_replication_bootstrap_group = OFF',
  'loose_group_replication_single_primary_mode = ON',
  '# measured: 0 expels a dead member after about 6.5 s, any other value after 21 s',
  'loose_group_replication_member_expel_timeout = 0',
  'loose_group_replication_autorejoin_tries = 3',
  '# a primary that is cut off from the majority fences itself',
  'loose_group_replication_unreachable_majority_timeout = 20',
  '# a new primary answers once it has what the old one acknowledged; the default since 8.4',
  'loose_group_replication_consistency = BEFORE_ON_PRIMARY_FAILOVER',
  'loose_group_replication_exit_state_action = READ_ONLY',
  'loose_group_replication_recovery_use_ssl = ON',
  'loose_group_replication_ssl_mode = REQUIRED',
  'skip_name_resolve = ON',
  'loose_mysqlx = OFF',
];
