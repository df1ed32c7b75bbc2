/** The four conditions. The reason of Ready is the state: one word for the user, the log and the code. */
import type { Facts } from '../decide/facts.ts';
import type { Verdict } from '../decide/verdict.ts';
import type { Failure } from '../errors.ts';
import type { Condition } from '../resource/mysql.ts';

/** Failures that trying again does not mend belong on the resource; the others come and go. */
export function conditions(
  facts: Facts,
  verdict: Verdict,
  failures: readonly Failure[],
): readonly Condition[] {
  const refused = failures
    .filter((failure) => failure.name === 'Permanent')
    .map((failure) => failure.message);
  const settled = verdict.state === 'Healthy' || verdict.state === 'Hibernated';
  const available = facts.primary !== undefined;
  const broken =
    refused.length > 0 || DEGRADED.has(verdict.state) || (facts.group !== undefined && missesMembers(facts));
  const drafts: readonly Draft[] = [
    ['Ready', settled && refused.length === 0, verdict.state, verdict.message],
    [
      'Available',
      available,
      available ? 'PrimaryWritable' : 'NoPrimary',
      available ? `${facts.primary?.name} accepts writes.` : 'No member accepts writes.',
    ],
    ['Progressing', verdict.transitional, verdict.transitional ? verdict.state : 'Settled', ''],
    [
      'Degraded',
      broken,
      refused.length > 0 ? 'Refused' : broken ? verdict.state : 'AsExpected',
      refused.join('; ').slice(0, 2_000),
    ],
  ];
  return drafts.map((draft) => toCondition(draft, facts));
}

type Draft = readonly [type: string, holds: boolean, reason: string, message: string];

const DEGRADED: ReadonlySet<string> = new Set([
  'Invalid',
  'NameConflict',
  'QuorumLost',
  'FullOutage',
  'Errant',
]);

const missesMembers = (facts: Facts): boolean =>
  facts.wanted.some((standing) => !standing.inGroup || standing.state !== 'ONLINE');

/** lastTransitionTime stays while the status does: otherwise every pass would be a change. */
function toCondition([type, holds, reason, message]: Draft, { observed }: Facts): Condition {
  const status = holds ? 'True' : 'False';
  const before = observed.mysql.status?.conditions?.find((condition) => condition.type === type);
  return {
    type,
    status,
    reason,
    message,
    observedGeneration: observed.mysql.metadata.generation ?? 0,
    lastTransitionTime:
      before?.status === status
        ? before.lastTransitionTime
        : observed.at.toISOString().replace(/\.\d+Z$/, 'Z'),
  };
}
