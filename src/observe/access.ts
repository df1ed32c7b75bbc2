/** The Secret as accounts. */
import type { Secret } from 'kubernetes-types/core/v1.d.ts';
import { SECRET_KEY } from '../desired/secret.ts';
import type { Access } from '../mysql/members.ts';

/** Account names in every member; the passwords come from the Secret. */
export const OPERATOR_USER = 'mysql_operator';
export const REPLICATION_USER = 'mysql_replication';

/** Undefined while a key is missing: without all of them no member can be asked. */
export function accessOf(secret: Secret | undefined): Access | undefined {
  const read = (key: string) => {
    const value = secret?.data?.[key];
    return value ? Buffer.from(value, 'base64').toString('utf8') : undefined;
  };
  const operator = read(SECRET_KEY.operator);
  const replication = read(SECRET_KEY.replication);
  const groupName = read(SECRET_KEY.groupName);
  if (!operator || !replication || !groupName) return undefined;
  return {
    operator: { user: OPERATOR_USER, password: operator },
    replication: { user: REPLICATION_USER, password: replication },
    groupName,
  };
}
