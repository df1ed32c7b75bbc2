import type { Dialect } from '../dialect.ts';
import { v84 } from './v84.ts';

/** mysql_native_password and variables of old are gone; the statements used here are those of 8.4. */
export const v9: Dialect = { ...v84, versions: '9.x' };
