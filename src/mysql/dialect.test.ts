import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dialectFor } from './dialect.ts';

/** The statements of one version, as they go to the server. */
const spoken = (version: string) => {
  const { recoveryAccount, setPrimary, peers, view, ...rest } = dialectFor(version);
  return {
    ...rest,
    recoveryAccount: recoveryAccount("'u'", "'p'"),
    setPrimary: setPrimary?.("'uuid'"),
    roleFrom: /MEMBER_ROLE/.test(peers) ? 'column' : 'status variable',
    view,
  };
};

const VIEW =
  'SELECT VIEW_ID AS view FROM performance_schema.replication_group_member_stats WHERE MEMBER_ID = @@server_uuid';
const CLONE = 'SELECT STATE AS state, ERROR_MESSAGE AS message FROM performance_schema.clone_status';
const SOURCE =
  "CHANGE REPLICATION SOURCE TO SOURCE_USER = 'u', SOURCE_PASSWORD = 'p' FOR CHANNEL 'group_replication_recovery'";
const MASTER =
  "CHANGE MASTER TO MASTER_USER = 'u', MASTER_PASSWORD = 'p' FOR CHANNEL 'group_replication_recovery'";
const REFUSAL =
  "SELECT DATA AS message FROM performance_schema.error_log WHERE PRIO = 'Error' AND SUBSYSTEM = 'Repl' AND LOGGED >=" +
  " (SELECT MAX(LOGGED) FROM performance_schema.error_log WHERE ERROR_CODE = 'MY-013587') ORDER BY LOGGED LIMIT 1";
const THRESHOLD = 'SET GLOBAL group_replication_clone_threshold = 100000';

const NEW = {
  recoveryAccount: SOURCE,
  setPrimary: "SELECT group_replication_set_as_primary('uuid', 10)",
  roleFrom: 'column',
  view: VIEW,
  clone: CLONE,
  refusal: REFUSAL,
  cloneWhenNeeded: THRESHOLD,
  groupPort: 3306,
};
const UNTIMED = "SELECT group_replication_set_as_primary('uuid')";

describe('each version is spoken to in its own words', () => {
  for (const [version, expected] of Object.entries({
    '9.7.4': { ...NEW, versions: '9.x' },
    '8.4.3': { ...NEW, versions: '8.1 to 8.4' },
    '8.0.40': { ...NEW, versions: '8.0' },
    '8.0.28': { ...NEW, versions: '8.0', setPrimary: UNTIMED },
    '8.0.26': { ...NEW, versions: '8.0', setPrimary: UNTIMED, groupPort: 33061 },
    '8.0.22': { ...NEW, versions: '8.0', setPrimary: UNTIMED, groupPort: 33061, recoveryAccount: MASTER },
    '8.0.16': {
      ...NEW,
      versions: '8.0',
      setPrimary: UNTIMED,
      groupPort: 33061,
      recoveryAccount: MASTER,
      refusal: undefined,
      clone: undefined,
      cloneWhenNeeded: undefined,
    },
    '5.7.44-log': {
      ...NEW,
      versions: '5.7',
      setPrimary: undefined,
      groupPort: 33061,
      recoveryAccount: MASTER,
      refusal: undefined,
      clone: undefined,
      cloneWhenNeeded: undefined,
      roleFrom: 'status variable',
    },
  })) {
    test(version, () => {
      assert.deepEqual(spoken(version), expected);
    });
  }

  test('a version that is not known yet is spoken to like the newest', () => {
    assert.equal(dialectFor('11.2.0').versions, '9.x');
  });
});
