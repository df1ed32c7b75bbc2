/** What the rules ask of an Observed, derived once: one standing per member, the group, the sets, the accepted losses. */
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { EMPTY, type GtidSet, parseGtidSet, subtract, union } from '../mysql/gtid.ts';
import type { Member, MemberAnswer, MemberReport, MemberRole, MemberState } from '../mysql/members.ts';
import type { Observed } from '../observe/observed.ts';
import { memberOf } from '../observe/pods.ts';
import { ANNOTATION, parsePodName, podName } from '../resource/names.ts';
import { type Group, inSomeGroup, quorateGroup } from './group.ts';

/** `Missing`: no pod. `NotReady`: a pod whose server cannot run yet. `Unanswering`: a running pod whose server said nothing. */
export type StandingState = 'Missing' | 'NotReady' | 'Unanswering' | MemberState;

/** One member of the cluster: an ordinal of the live StatefulSet. */
export interface Standing {
  readonly ordinal: number;
  readonly name: string;
  readonly pod: Pod | undefined;
  /** Where to reach it; undefined without an address. */
  readonly member: Member | undefined;
  readonly answer: MemberAnswer | undefined;
  /** In the group: as its majority sees it. Else what the member says, or why it says nothing. */
  readonly state: StandingState;
  readonly role: MemberRole | undefined;
  readonly inGroup: boolean;
  /** executed ∪ received: all that it could bring into a group. */
  readonly transactions: GtidSet;
  /** Transactions that the quorate group does not have; empty for members of the group and while there is none. */
  readonly errant: GtidSet;
  /** True when the pod runs another revision of the template than the StatefulSet asks for. */
  readonly outdated: boolean;
  /** For a person: why it does not run, answer or join; '' when there is nothing to say. */
  readonly trouble: string;
}

export interface Facts {
  readonly observed: Observed;
  readonly name: string;
  /** spec.size. */
  readonly size: number;
  /** Replicas of the live StatefulSet: the durable membership. 0 without one. */
  readonly replicas: number;
  readonly standings: readonly Standing[];
  readonly group: Group | undefined;
  readonly primary: Standing | undefined;
  /** Members that are ONLINE in the group. */
  readonly online: readonly Standing[];
  /** The members that are to stay: ordinals below both replicas and size. */
  readonly wanted: readonly Standing[];
  /** Pod names whose transactions the user allows to be lost. */
  readonly acceptedLosses: ReadonlySet<string>;
}

export function factsOf(observed: Observed): Facts {
  const { mysql, children, pods, reports } = observed;
  const name = mysql.metadata.name ?? '';
  const replicas = children.statefulSet?.spec?.replicas ?? 0;
  const group = quorateGroup(reports, mysql.status?.bootstrap?.member);
  const groupHas = group ? union(...group.reporters.map(transactionsOf)) : EMPTY;
  const byName = new Map(reports.map((report) => [report.name, report]));
  const ordinals = new Set([
    ...Array.from({ length: replicas }, (_, ordinal) => ordinal),
    ...pods.flatMap((pod) => parsePodName(pod.metadata?.name ?? '')?.ordinal ?? []),
  ]);
  const standings = [...ordinals]
    .sort((a, b) => a - b)
    .map((ordinal) => {
      const pod = pods.find((one) => one.metadata?.name === podName(name, ordinal));
      return standingOf(observed, ordinal, pod, byName.get(podName(name, ordinal)), group, groupHas);
    });
  return {
    observed,
    name,
    size: mysql.spec.size,
    replicas,
    standings,
    group,
    primary: standings.find(
      (standing) => standing.inGroup && standing.role === 'PRIMARY' && standing.state === 'ONLINE',
    ),
    online: standings.filter((standing) => standing.inGroup && standing.state === 'ONLINE'),
    wanted: standings.filter((standing) => standing.ordinal < Math.min(replicas, mysql.spec.size)),
    acceptedLosses: new Set(
      (mysql.metadata.annotations?.[ANNOTATION.acceptDataLoss] ?? '')
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== ''),
    ),
  };
}

function standingOf(
  observed: Observed,
  ordinal: number,
  pod: Pod | undefined,
  report: MemberReport | undefined,
  group: Group | undefined,
  groupHas: GtidSet,
): Standing {
  const name = podName(observed.mysql.metadata.name ?? '', ordinal);
  const answer = report?.answered ? report : undefined;
  const peer = group?.peers.find((one) =>
    answer ? one.uuid === answer.uuid : one.host.split('.')[0] === name,
  );
  const transactions = answer ? transactionsOf(answer) : EMPTY;
  const notRunning = pod ? whyNotRunning(pod) : 'has no pod';
  const state: StandingState = !pod
    ? 'Missing'
    : (peer?.state ?? answer?.state ?? (notRunning === '' ? 'Unanswering' : 'NotReady'));
  return {
    ordinal,
    name,
    pod,
    member: pod && memberOf(observed.mysql, pod),
    answer,
    state,
    role: peer?.role,
    inGroup: peer !== undefined && pod !== undefined,
    transactions,
    errant: group && !peer ? subtract(transactions, groupHas) : EMPTY,
    outdated: pod !== undefined && isOutdated(observed, pod),
    trouble: notRunning || (report && !report.answered ? report.why : (answer?.trouble ?? '')),
  };
}

/** Unreadable sets count as nothing known: the server is then asked again by the next pass. */
export function transactionsOf(answer: MemberAnswer): GtidSet {
  return union(parseGtidSet(answer.executed), parseGtidSet(answer.received));
}

/** '' for a pod whose container runs; else the cause, the most telling one first. */
export function whyNotRunning(pod: Pod): string {
  if (pod.metadata?.deletionTimestamp) return 'is being deleted';
  const status = pod.status;
  for (const container of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]) {
    const waiting = container.state?.waiting;
    if (waiting && waiting.reason !== 'PodInitializing' && waiting.reason !== 'ContainerCreating') {
      return `${waiting.reason ?? 'waiting'}${waiting.message ? `: ${waiting.message}` : ''}`;
    }
  }
  const unscheduled = status?.conditions?.find(
    (one) => one.type === 'PodScheduled' && one.status === 'False',
  );
  if (unscheduled)
    return `cannot be scheduled: ${unscheduled.message ?? unscheduled.reason ?? 'no reason given'}`;
  if (status?.phase !== 'Running') return `is ${status?.phase ?? 'Pending'}`;
  return status.podIP ? '' : 'has no address yet';
}

/** Only told when the StatefulSet's status speaks of its current template. */
function isOutdated({ children: { statefulSet } }: Observed, pod: Pod): boolean {
  const wanted = statefulSet?.status?.updateRevision;
  return (
    wanted !== undefined &&
    statefulSet?.status?.observedGeneration === statefulSet?.metadata?.generation &&
    pod.metadata?.labels?.['controller-revision-hash'] !== wanted
  );
}

/** Members that say that they are in a group, quorate or not. */
export const claimingMembership = (facts: Facts): readonly Standing[] =>
  facts.standings.filter((standing) => standing.answer && inSomeGroup(standing.answer));

/** Live members that did not answer and whose loss the user did not accept. */
export const silent = (facts: Facts): readonly Standing[] =>
  facts.standings.filter(
    (standing) =>
      standing.ordinal < facts.replicas && !standing.answer && !facts.acceptedLosses.has(standing.name),
  );

/** For a person: `a`, `a and b`, `a, b and c`. */
export function names(standings: readonly { readonly name: string }[]): string {
  const all = standings.map((standing) => standing.name);
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`;
}

/** `name why; name why`. */
export const troubles = (standings: readonly Standing[]): string =>
  standings.map((standing) => `${standing.name} ${standing.trouble || `is ${standing.state}`}`).join('; ');
