import { GROUP_PORT_57 } from '../../resource/names.ts';
import type { Dialect } from '../dialect.ts';
import { v57 } from './v57.ts';
import { v84 } from './v84.ts';

/** 8.0 grew into 8.4 by patch releases: clone in .17, SOURCE for MASTER in .23, the error log as a table in .22, the MYSQL communication stack in .27, a timeout for the switchover in .29. */
export const v80 = (patch: number): Dialect => ({
  ...v84,
  versions: '8.0',
  ...(patch < 17 ? { clone: undefined, cloneWhenNeeded: undefined } : {}),
  ...(patch < 22 ? { refusal: undefined } : {}),
  ...(patch < 23 ? { recoveryAccount: v57.recoveryAccount } : {}),
  ...(patch < 27 ? { groupPort: GROUP_PORT_57 } : {}),
  ...(patch < 29 ? { setPrimary: (uuid: string) => `SELECT group_replication_set_as_primary(${uuid})` } : {}),
});
