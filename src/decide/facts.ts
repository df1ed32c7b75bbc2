/** What the rules ask of an Observed, derived once: one standing per member, the group, the accepted losses. */
import type { StatefulSet } from 'kubernetes-types/apps/v1.d.ts';
import { EMPTY, parseGtidSet, union } from '../mysql/gtid.ts';
import type { MemberReport } from '../mysql/members.ts';
import type { Observed } from '../observe/observed.ts';
import { ANNOTATION, parsePodName } from '../resource/names.ts';
import { type Group, inSomeGroup, quorateGroup } from './group.ts';
import { type Standing, standingOf, transactionsOf } from './standing.ts';

export type { Standing } from './standing.ts';

export interface Facts {
  readonly observed: Observed;
  readonly name: string;
  /** spec.size. */
  readonly size: number;
  /** Replicas of the live StatefulSet: the durable membership. 0 without one. */
  readonly replicas: number;
  /** By ordinal: the membership, and pods beyond it that are not gone yet. */
  readonly standings: readonly Standing[];
  /** The durable membership: ordinals below replicas. */
  readonly members: readonly Standing[];
  /** The members that are to stay: ordinals below both replicas and size. */
  readonly wanted: readonly Standing[];
  readonly group: Group | undefined;
  readonly primary: Standing | undefined;
  /** Members that are ONLINE by the word of the group's majority, whether they answer us or not. */
  readonly online: readonly Standing[];
  /** The StatefulSet was changed and its controller has not looked at it yet: what follows shows only then, and no event will tell. */
  readonly awaitsController: boolean;
  /** Pod names whose transactions the user allows to be lost. */
  readonly acceptedLosses: ReadonlySet<string>;
}

export function factsOf(observed: Observed): Facts {
  const { mysql, children, pods } = observed;
  const replicas = children.statefulSet?.spec?.replicas ?? 0;
  const reports = observed.reports.map(legible);
  const group = quorateGroup(reports, mysql.status?.bootstrap?.member);
  const groupHas = group ? union(...group.reporters.map(transactionsOf)) : EMPTY;
  const ordinals = new Set([
    ...Array.from({ length: replicas }, (_, ordinal) => ordinal),
    ...pods.flatMap((pod) => parsePodName(pod.metadata?.name ?? '')?.ordinal ?? []),
  ]);
  const standings = [...ordinals]
    .sort((a, b) => a - b)
    .map((ordinal) => standingOf(observed, ordinal, group, groupHas, reports));
  const online = standings.filter((standing) => standing.inGroup && standing.state === 'ONLINE');
  const members = standings.filter((standing) => standing.ordinal < replicas);
  return {
    observed,
    name: mysql.metadata.name ?? '',
    size: mysql.spec.size,
    replicas,
    standings,
    members,
    wanted: members.filter((standing) => standing.ordinal < mysql.spec.size),
    group,
    primary: online.find((standing) => standing.role === 'PRIMARY'),
    online,
    awaitsController: isUnseen(children.statefulSet),
    acceptedLosses: new Set(
      (mysql.metadata.annotations?.[ANNOTATION.acceptDataLoss] ?? '')
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== ''),
    ),
  };
}

const isUnseen = (set: StatefulSet | undefined): boolean =>
  set !== undefined && set.status?.observedGeneration !== set.metadata?.generation;

/** A member whose sets cannot be read has said nothing: taken for empty, its transactions could be lost. */
function legible(report: MemberReport): MemberReport {
  if (!report.answered) return report;
  try {
    parseGtidSet(report.executed);
    parseGtidSet(report.received);
    return report;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return {
      answered: false,
      name: report.name,
      why: `gives an answer that cannot be read (${error.message})`,
    };
  }
}

/** Members that say that they are in a group, quorate or not. */
export const claimingMembership = (facts: Facts): readonly Standing[] =>
  facts.standings.filter((standing) => standing.answer && inSomeGroup(standing.answer));

/** Members that did not answer and whose loss the user did not accept. */
export const silent = (facts: Facts): readonly Standing[] =>
  facts.members.filter((standing) => !standing.answer && !facts.acceptedLosses.has(standing.name));

/** The way out of waiting for members that will not come back. */
export const acceptLossOf = (standings: readonly { readonly name: string }[]): string =>
  `annotate with ${ANNOTATION.acceptDataLoss}: ${standings.map((standing) => standing.name).join(',')}`;

/** Whether all of them may come to answer by themselves within seconds. */
export const mayAnswerSoon = (standings: readonly Standing[]): boolean =>
  standings.every((standing) => !standing.stuck);

/** For a person: `a`, `a and b`, `a, b and c`. */
export function names(standings: readonly { readonly name: string }[]): string {
  const all = standings.map((standing) => standing.name);
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`;
}

/** `name why; name why`. */
export const troubles = (standings: readonly Standing[]): string =>
  standings.map((standing) => `${standing.name} ${standing.trouble || `is ${standing.state}`}`).join('; ');
