/** The Secret as accounts. */
import type { Secret } from 'kubernetes-types/core/v1.d.ts';
import { SECRET_KEY, valueIn } from '../desired/secret.ts';
import type { Access } from '../mysql/members.ts';

/** Account names in every member; the passwords come from the Secret. */
export const OPERATOR_USER = 'mysql_operator';
export const REPLICATION_USER = 'mysql_replication';

/** Undefined while a key is missing: without all of them no member can be asked. */
export function accessOf(secret: Secret | undefined): Access | undefined {
  const operator = valueIn(secret, SECRET_KEY.operator);
  const replication = valueIn(secret, SECRET_KEY.replication);
  const groupName = valueIn(secret, SECRET_KEY.groupName);
  if (!operator || !replication || !groupName) return undefined;
  return {
    operator: { user: OPERATOR_USER, password: operator },
    replication: { user: REPLICATION_USER, password: replication },
    groupName,
  };
}
