/** One member of the cluster: what its pod, its server and the group say about it, judged once. */
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { EMPTY, type GtidSet, parseGtidSet, subtract, union } from '../mysql/gtid.ts';
import type { Member, MemberAnswer, MemberReport, MemberRole, MemberState, Peer } from '../mysql/members.ts';
import type { Observed } from '../observe/observed.ts';
import { memberOf } from '../observe/pods.ts';
import { podName } from '../resource/names.ts';
import { type Group, inSomeGroup } from './group.ts';
import { podTrouble } from './pod-trouble.ts';

/** `Missing`: no pod. `NotReady`: a pod whose server cannot run yet. `Unanswering`: a running pod whose server said nothing. */
export type StandingState = 'Missing' | 'NotReady' | 'Unanswering' | MemberState;

export interface Standing {
  readonly ordinal: number;
  readonly name: string;
  readonly pod: Pod | undefined;
  /** True while the pod's deletion is under way. */
  readonly leaving: boolean;
  /** Where to reach it; undefined without an address. */
  readonly member: Member | undefined;
  readonly answer: MemberAnswer | undefined;
  /** In the group: as its majority sees it. Else what the member says, or why it says nothing. */
  readonly state: StandingState;
  readonly role: MemberRole | undefined;
  /** The majority's view lists it, be it an incarnation that is gone: for seconds, until it is expelled. */
  readonly listed: boolean;
  /** Listed, and its own word does not contradict. */
  readonly inGroup: boolean;
  /** ONLINE by the majority's word and its own, and to stay: only beside settled members may another one be disturbed. */
  readonly settled: boolean;
  /** executed ∪ received: all that it could bring into a group. */
  readonly transactions: GtidSet;
  /** Transactions that the quorate group does not have; empty for members of the group and while there is none. */
  readonly errant: GtidSet;
  /** True when the pod runs another revision of the template than the StatefulSet asks for. */
  readonly outdated: boolean;
  /** For a person, after the name: why it does not run, answer or join; '' when there is nothing to say. */
  readonly trouble: string;
  /** True when only a change from outside can get its pod to run. */
  readonly stuck: boolean;
}

export function standingOf(
  observed: Observed,
  ordinal: number,
  group: Group | undefined,
  groupHas: GtidSet,
  reports: readonly MemberReport[],
): Standing {
  const name = podName(observed.mysql.metadata.name ?? '', ordinal);
  const pod = observed.pods.find((one) => one.metadata?.name === name);
  const report = reports.find((one) => one.name === name);
  const answer = report?.answered ? report : undefined;
  const listing = group?.peers.find((peer) => isThis(peer, name, answer));
  // A server that was restarted knows of no group while the others still list it as ONLINE for seconds.
  const peer = !pod || (answer && !inSomeGroup(answer)) ? undefined : listing;
  const transactions = answer ? transactionsOf(answer) : EMPTY;
  const leaving = pod?.metadata?.deletionTimestamp !== undefined;
  const trouble = pod ? podTrouble(pod) : missing(observed.creationTrouble);
  return {
    ordinal,
    name,
    pod,
    leaving,
    member: pod && memberOf(observed.mysql, pod),
    answer,
    state: pod ? (peer?.state ?? answer?.state ?? (trouble ? 'NotReady' : 'Unanswering')) : 'Missing',
    role: peer?.role,
    listed: listing !== undefined,
    inGroup: peer !== undefined,
    settled: peer?.state === 'ONLINE' && answer?.state === 'ONLINE' && !leaving,
    transactions,
    errant: group && !listing ? subtract(transactions, groupHas) : EMPTY,
    outdated: pod !== undefined && isOutdated(observed, pod),
    trouble: trouble?.why ?? (report && !report.answered ? report.why : (answer?.trouble ?? '')),
    stuck: trouble?.stuck ?? false,
  };
}

export const transactionsOf = (answer: MemberAnswer): GtidSet =>
  union(parseGtidSet(answer.executed), parseGtidSet(answer.received));

/** By server_uuid when it answers: a member whose volume was replaced is another one under the same host name. */
const isThis = (peer: Peer, name: string, answer: MemberAnswer | undefined): boolean =>
  answer ? peer.uuid === answer.uuid : peer.host.split('.')[0] === name;

/** A pod that cannot be created is nowhere but in an Event of the StatefulSet. */
const missing = (creationTrouble: string | undefined) =>
  creationTrouble
    ? { why: `has no pod (${creationTrouble})`, stuck: true }
    : { why: 'has no pod', stuck: false };

/** Only told when the StatefulSet's status speaks of its current template. */
function isOutdated({ children: { statefulSet } }: Observed, pod: Pod): boolean {
  const wanted = statefulSet?.status?.updateRevision;
  return (
    wanted !== undefined &&
    statefulSet?.status?.observedGeneration === statefulSet?.metadata?.generation &&
    pod.metadata?.labels?.['controller-revision-hash'] !== wanted
  );
}
