import type { Dialect } from '../dialect.ts';

/** The current long-term release; 9.x differs in what was removed, not in what is said here. */
export const v84: Dialect = {
  versions: '8.1 to 8.4',
  recoveryAccount: (user, password) =>
    `CHANGE REPLICATION SOURCE TO SOURCE_USER = ${user}, SOURCE_PASSWORD = ${password} FOR CHANNEL 'group_replication_recovery'`,
  peers:
    'SELECT MEMBER_ID AS id, MEMBER_HOST AS host, MEMBER_STATE AS state, MEMBER_ROLE AS role' +
    ' FROM performance_schema.replication_group_members',
  view: 'SELECT VIEW_ID AS view FROM performance_schema.replication_group_member_stats WHERE MEMBER_ID = @@server_uuid',
  clone: 'SELECT STATE AS state, ERROR_MESSAGE AS message FROM performance_schema.clone_status',
  // MY-013587: "Plugin 'group_replication' is starting"
  refusal:
    "SELECT DATA AS message FROM performance_schema.error_log WHERE PRIO = 'Error' AND SUBSYSTEM = 'Repl' AND LOGGED >=" +
    " (SELECT MAX(LOGGED) FROM performance_schema.error_log WHERE ERROR_CODE = 'MY-013587') ORDER BY LOGGED LIMIT 1",
  setPrimary: (uuid) => `SELECT group_replication_set_as_primary(${uuid}, 10)`,
  cloneWhenNeeded: 'SET GLOBAL group_replication_clone_threshold = 100000',
  groupPort: 3306,
};
