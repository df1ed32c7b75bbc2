/** Kubernetes Events for what changed against the status that stands on the resource: what a person wants to find later. */
import type { Facts } from '../decide/facts.ts';
import type { State, Verdict } from '../decide/verdict.ts';
import type { Announcement } from '../kubernetes/cluster.ts';
import type { MysqlStatus } from '../resource/mysql.ts';

export function announcements(facts: Facts, verdict: Verdict, status: MysqlStatus): readonly Announcement[] {
  const { mysql } = facts.observed;
  const stateBefore = reasonOf(mysql.status, 'Ready');
  const refused = reasonOf(status, 'Degraded') === 'Refused' ? messageOf(status, 'Degraded') : undefined;
  const all: Announcement[] = [];
  if (stateBefore !== verdict.state) {
    all.push({
      regarding: mysql,
      type: TROUBLE.has(verdict.state) ? 'Warning' : 'Normal',
      reason: verdict.state,
      action: 'Reconcile',
      note: verdict.message,
    });
  }
  if (status.primary && status.primary !== mysql.status?.primary) {
    const before = mysql.status?.primary;
    all.push({
      regarding: mysql,
      type: 'Normal',
      reason: 'PrimaryChanged',
      action: 'Elect',
      note: before
        ? `${status.primary} is the primary; it was ${before}.`
        : `${status.primary} is the primary.`,
    });
  }
  if (refused && refused !== messageOf(mysql.status, 'Degraded')) {
    all.push({ regarding: mysql, type: 'Warning', reason: 'Refused', action: 'Apply', note: refused });
  }
  return all;
}

const TROUBLE: ReadonlySet<State> = new Set([
  'Invalid',
  'NameConflict',
  'QuorumLost',
  'FullOutage',
  'Errant',
]);

const conditionOf = (status: MysqlStatus | undefined, type: string) =>
  status?.conditions?.find((condition) => condition.type === type);
const reasonOf = (status: MysqlStatus | undefined, type: string) => conditionOf(status, type)?.reason;
const messageOf = (status: MysqlStatus | undefined, type: string) => conditionOf(status, type)?.message;
