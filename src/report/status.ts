/** Facts and verdict → status. Pure, and the same for the same facts, so that an unchanged cluster gives an unchanged status. */
import { isDeepStrictEqual } from 'node:util';
import type { Facts, Standing } from '../decide/facts.ts';
import type { Verdict } from '../decide/verdict.ts';
import type { Failure } from '../errors.ts';
import type { MemberStatus, MysqlStatus } from '../resource/mysql.ts';
import { selectorLabels } from '../resource/names.ts';
import { conditions } from './conditions.ts';

export function statusOf(facts: Facts, verdict: Verdict, failures: readonly Failure[]): MysqlStatus {
  const { mysql, pods } = facts.observed;
  const bootstrap = verdict.bootstrap ?? mysql.status?.bootstrap;
  return {
    // a plain list: another order would be a change to the API server
    nodes: facts.online.map((standing) => standing.name).sort(),
    ...(facts.primary ? { primary: facts.primary.name } : {}),
    members: facts.standings.map(memberStatus),
    replicas: pods.length,
    selector: Object.entries(selectorLabels(facts.name))
      .map(([key, value]) => `${key}=${value}`)
      .join(','),
    observedGeneration: mysql.metadata.generation ?? 0,
    ...(bootstrap ? { bootstrap } : {}),
    conditions: [...conditions(facts, verdict, failures)],
  };
}

function memberStatus(standing: Standing): MemberStatus {
  const serving = standing.inGroup && standing.state === 'ONLINE';
  return {
    name: standing.name,
    state: standing.state,
    ...(standing.role ? { role: standing.role } : {}),
    ...(standing.answer ? { version: standing.answer.version } : {}),
    ...(!serving && standing.trouble ? { message: standing.trouble.slice(0, 1_000) } : {}),
  };
}

export const sameStatus = (a: MysqlStatus | undefined, b: MysqlStatus): boolean =>
  isDeepStrictEqual(plain(a), plain(b));

/** The generated types allow undefined where JSON has nothing. */
const plain = (status: MysqlStatus | undefined): unknown => JSON.parse(JSON.stringify(status ?? {}));
