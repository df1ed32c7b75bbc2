/** The four conditions. The reason of Ready is the state: one word for the user, the log and the code. */
import type { Facts } from '../decide/facts.ts';
import type { Verdict } from '../decide/verdict.ts';
import type { Failure } from '../errors.ts';
import type { Condition, MysqlStatus } from '../resource/mysql.ts';

/** Failures that trying again does not mend belong on the resource; the others come and go. */
export function conditions(
  facts: Facts,
  verdict: Verdict,
  failures: readonly Failure[],
): readonly Condition[] {
  const refused = refusal(facts, failures);
  const settled = verdict.state === 'Healthy' || verdict.state === 'Hibernated';
  const available = facts.primary !== undefined;
  const broken =
    refused !== '' || DEGRADED.has(verdict.state) || (facts.group !== undefined && missesMembers(facts));
  const drafts: readonly Draft[] = [
    ['Ready', settled && !refused, verdict.state, verdict.message],
    [
      'Available',
      available,
      available ? 'PrimaryWritable' : 'NoPrimary',
      available ? `${facts.primary?.name} accepts writes.` : 'No member accepts writes.',
    ],
    ['Progressing', verdict.transitional, verdict.transitional ? verdict.state : 'Settled', ''],
    refused
      ? ['Degraded', true, 'Refused', refused]
      : ['Degraded', broken, broken ? verdict.state : 'AsExpected', broken ? verdict.message : ''],
  ];
  return drafts.map((draft) => toCondition(draft, facts));
}

export const conditionOf = (status: MysqlStatus | undefined, type: string): Condition | undefined =>
  status?.conditions?.find((condition) => condition.type === type);

type Draft = readonly [type: string, holds: boolean, reason: string, message: string];

const DEGRADED: ReadonlySet<string> = new Set([
  'Invalid',
  'NameConflict',
  'QuorumLost',
  'FullOutage',
  'Errant',
]);

/**
 * What the API server or a member refused for good; '' when nothing. Some refusals carry a request id or a time: told anew by every pass,
 * our own status write would wake us for ever, so the one that stands is kept while only those differ.
 */
function refusal({ observed }: Facts, failures: readonly Failure[]): string {
  const now = failures
    .filter((failure) => failure.name === 'Permanent')
    .map((failure) => failure.message)
    .join('; ')
    .slice(0, LONGEST);
  const before = conditionOf(observed.mysql.status, 'Degraded');
  return before?.reason === 'Refused' && withoutIds(before.message) === withoutIds(now)
    ? before.message
    : now;
}

/** Characters; a refusal may quote the whole object. */
const LONGEST = 2_000;

const withoutIds = (text: string): string =>
  text.replace(/\b(?=[0-9a-f-]*\d)[0-9a-f-]{8,}\b|\d+:\d+:\d+(?:\.\d+)?/gi, '#');

const missesMembers = (facts: Facts): boolean =>
  facts.wanted.some((standing) => !standing.inGroup || standing.state !== 'ONLINE');

/** lastTransitionTime stays while the status does: otherwise every pass would be a change. */
function toCondition([type, holds, reason, message]: Draft, { observed }: Facts): Condition {
  const status = holds ? 'True' : 'False';
  const before = conditionOf(observed.mysql.status, type);
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
