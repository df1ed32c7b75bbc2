import { GROUP_PORT_57 } from '../../resource/names.ts';
import type { Dialect } from '../dialect.ts';

/** No clone, no order to switch the primary, and the primary is told by a status variable instead of a column. */
export const v57: Dialect = {
  versions: '5.7',
  recoveryAccount: (user, password) =>
    `CHANGE MASTER TO MASTER_USER = ${user}, MASTER_PASSWORD = ${password} FOR CHANNEL 'group_replication_recovery'`,
  peers:
    'SELECT m.MEMBER_ID AS id, m.MEMBER_HOST AS host, m.MEMBER_STATE AS state,' +
    " IF(s.VARIABLE_VALUE = '', NULL, IF(m.MEMBER_ID = s.VARIABLE_VALUE, 'PRIMARY', 'SECONDARY')) AS role" +
    ' FROM performance_schema.replication_group_members m' +
    " LEFT JOIN performance_schema.global_status s ON s.VARIABLE_NAME = 'group_replication_primary_member'",
  view: 'SELECT VIEW_ID AS view FROM performance_schema.replication_group_member_stats WHERE MEMBER_ID = @@server_uuid',
  clone: undefined,
  refusal: undefined,
  setPrimary: undefined,
  cloneWhenNeeded: undefined,
  groupPort: GROUP_PORT_57,
};
