/** Kubernetes Events for what changed against the status that stands on the resource: what a person wants to find later. */
import type { Facts } from '../decide/facts.ts';
import type { State, Verdict } from '../decide/verdict.ts';
import type { Announcement } from '../kubernetes/cluster.ts';
import type { MysqlStatus } from '../resource/mysql.ts';
import { conditionOf } from './conditions.ts';

export function announcements(facts: Facts, verdict: Verdict, status: MysqlStatus): readonly Announcement[] {
  const { mysql } = facts.observed;
  const stateBefore = conditionOf(mysql.status, 'Ready')?.reason;
  const refused = refusedIn(status);
  const all: Announcement[] = [];
  const stuck = !verdict.transitional && !QUIET.has(verdict.state);
  const moved = conditionOf(mysql.status, 'Progressing')?.status === 'True';
  if (stateBefore !== verdict.state || (stuck && moved)) {
    all.push({
      regarding: mysql,
      type: stuck || TROUBLE.has(verdict.state) ? 'Warning' : 'Normal',
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
  if (refused && refused !== refusedIn(mysql.status)) {
    all.push({ regarding: mysql, type: 'Warning', reason: 'Refused', action: 'Apply', note: refused });
  }
  return all;
}

/** States to stay in; in any other one that does not move by itself only a person helps. */
const QUIET: ReadonlySet<State> = new Set(['Healthy', 'Hibernated', 'Paused']);

const TROUBLE: ReadonlySet<State> = new Set([
  'Invalid',
  'NameConflict',
  'QuorumLost',
  'FullOutage',
  'Errant',
]);

function refusedIn(status: MysqlStatus | undefined): string | undefined {
  const degraded = conditionOf(status, 'Degraded');
  return degraded?.reason === 'Refused' ? degraded.message : undefined;
}
