/** What differs between server versions: SQL statements as pure text, one file a version, so that the differences lie side by side. */

import { v9 } from './dialects/v9.ts';
import { v57 } from './dialects/v57.ts';
import { v80 } from './dialects/v80.ts';
import { v84 } from './dialects/v84.ts';

export interface Dialect {
  /** Versions it speaks for, as a person says it. */
  readonly versions: string;
  /** Sets the account that a joining member uses; both arguments are SQL string literals already. */
  readonly recoveryAccount: (user: string, password: string) => string;
  /** Rows (id, host, state, role) of the group as this member sees it. */
  readonly peers: string;
  /** One row (view) with the member's VIEW_ID. */
  readonly view: string;
  /** One row (state) of a clone into this member; undefined where there is no clone. */
  readonly clone: string | undefined;
  /** One row (message): the error that ended the last start of replication; undefined where the error log is no table. */
  readonly refusal: string | undefined;
  /** Makes the member whose server_uuid is given (a literal) the primary; undefined where the server cannot. */
  readonly setPrimary: ((uuid: string) => string) | undefined;
  /** Lets a join clone whenever it cannot be incremental; undefined where there is no clone. */
  readonly cloneWhenNeeded: string | undefined;
  /** The port of the group: 3306 with the MYSQL communication stack, else XCom's own. */
  readonly groupPort: number;
}

/** For `SELECT @@version`, for example 8.4.3 or 5.7.44-log. Newer versions than known speak the newest dialect. */
export function dialectFor(version: string): Dialect {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number);
  if (major <= 5) return v57;
  if (major === 8 && minor === 0) return v80(patch);
  return major === 8 ? v84 : v9;
}
