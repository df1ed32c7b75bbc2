/**
 * Who is in the group, from the view of its majority and never from one member's view of itself: a member that was paused
 * believes for seconds that it is the writable primary, and the survivor of a lost majority says ONLINE while writes hang.
 */
import type { MemberAnswer, MemberReport, Peer } from '../mysql/members.ts';

/** A view in which more than half of the members answered and agree. */
export interface Group {
  readonly viewId: string;
  /** All members of the view, as the majority sees them. */
  readonly peers: readonly Peer[];
  /** The answers of the members that hold this view. */
  readonly reporters: readonly MemberAnswer[];
  /** uuid of the primary; undefined in the moment when none is elected. */
  readonly primary: string | undefined;
}

/** Members that say that they take part in some group. */
export const inSomeGroup = (answer: MemberAnswer): boolean =>
  answer.viewId !== undefined && answer.state !== 'OFFLINE' && answer.state !== 'ERROR';

/**
 * The quorate view; undefined when there is none. A reporter counts for its view when it is up in its own eyes and sees
 * more than half of the peers reachable. Should two views be quorate by an accident, the larger one wins, then the one
 * with the member that `preferred` names, then the one with the first reporter.
 */
export function quorateGroup(
  reports: readonly MemberReport[],
  preferred: string | undefined,
): Group | undefined {
  const views = Map.groupBy(
    reports
      .filter((report) => report.answered)
      .filter((answer) => inSomeGroup(answer) && seesMajority(answer)),
    (answer) => answer.viewId ?? '',
  );
  const quorate = [...views]
    .map(([viewId, reporters]) => toGroup(viewId, reporters))
    .filter((group) => group.reporters.length * 2 > group.peers.length);
  const rank = (group: Group) =>
    group.peers.length * 2 + (group.reporters.some((reporter) => reporter.name === preferred) ? 1 : 0);
  return quorate.reduce<Group | undefined>(
    (best, next) => (!best || rank(next) > rank(best) ? next : best),
    undefined,
  );
}

function seesMajority(answer: MemberAnswer): boolean {
  const unreachable = answer.peers.filter((peer) => peer.state === 'UNREACHABLE').length;
  return unreachable * 2 < answer.peers.length;
}

function toGroup(viewId: string, reporters: readonly MemberAnswer[]): Group {
  const uuids = [...new Set(reporters.flatMap((reporter) => reporter.peers.map((peer) => peer.uuid)))];
  const peers = uuids.map((uuid) => agreed(uuid, reporters)).filter((peer) => peer !== undefined);
  const primary = peers.find((peer) => peer.role === 'PRIMARY' && peer.state === 'ONLINE')?.uuid;
  return { viewId, peers, reporters, primary };
}

/** What most reporters of the view say about one peer; of equal counts the first named. */
function agreed(uuid: string, reporters: readonly MemberAnswer[]): Peer | undefined {
  const opinions = reporters.flatMap((reporter) => reporter.peers.filter((peer) => peer.uuid === uuid));
  const count = (one: Peer) =>
    opinions.filter((other) => other.state === one.state && other.role === one.role).length;
  return opinions.reduce<Peer | undefined>(
    (best, next) => (!best || count(next) > count(best) ? next : best),
    undefined,
  );
}
