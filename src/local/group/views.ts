/**
 * Membership as Group Replication keeps it: a view for all that agree, a new one at every change. Who falls silent is called
 * UNREACHABLE, then expelled, if a majority is left to do so; without a majority everything stands still and the rest gives up.
 */
import type { Server, View } from './server.ts';
import type { Timeline } from './timeline.ts';
import type { Times } from './times.ts';

export interface ViewsOptions {
  readonly timeline: Timeline;
  readonly times: Times;
  /** Told of every server that changed or sees something new. */
  readonly changed: (server: Server) => void;
}

export class Views {
  readonly #timeline: Timeline;
  readonly #times: Times;
  readonly #changed: (server: Server) => void;
  #views = 0;

  constructor({ timeline, times, changed }: ViewsOptions) {
    this.#timeline = timeline;
    this.#times = times;
    this.#changed = changed;
  }

  /** A group of one. */
  found(server: Server): void {
    server.trouble = '';
    server.state = 'ONLINE';
    server.silentSince = undefined;
    server.view = { id: '', members: [server], primary: server };
    this.#install([server], server);
  }

  /** RECOVERING from now on. */
  admit(view: View, server: Server): void {
    server.trouble = '';
    server.state = 'RECOVERING';
    server.silentSince = undefined;
    server.view = view;
    this.#install([...view.members, server], view.primary);
  }

  /** Leaves in good order; a group without a majority does not hear of it and takes it for silent. */
  depart(server: Server): void {
    const { view } = server;
    if (!view) return;
    const agreed = server.hasMajority;
    server.view = undefined;
    // whoever is silent is still listed, also when it was restarted and knows nothing of the view any more
    const rest = view.members.filter(
      (member) => member !== server && (member.view === view || member.silentSince !== undefined),
    );
    if (agreed && rest.length > 0) this.#install(rest, view.primary);
    else this.fellSilent(server, view);
  }

  /** Dead, stopped by a signal, or cut off: the others, and a survivor without a majority, notice in time. */
  fellSilent(server: Server, view: View): void {
    server.silentSince ??= this.#timeline.now;
    const since = server.silentSince;
    const stillSilent = () => server.silentSince === since;
    this.#timeline.after(this.#times.unreachable, () => {
      if (!stillSilent()) return;
      for (const member of view.members) this.#changed(member);
      for (const member of view.members) this.#giveUpWithoutMajority(member);
    });
    this.#timeline.after(this.#times.expel, () => {
      if (stillSilent()) this.#expel(server, view);
    });
  }

  /** Talks again. When the others went on without it, it finds out after `delusion` and is in ERROR. */
  spokeAgain(server: Server, delusion: number): void {
    const { view, life } = server;
    const newer = view?.members.find((member) => member.view && member.view !== view)?.view;
    if (newer && !newer.members.includes(server)) {
      const findOut = () => {
        if (server.life === life && server.view === view) this.fail(server, 'was expelled from the group');
      };
      if (delusion > 0) this.#timeline.after(delusion, findOut);
      else findOut();
    } else {
      server.silentSince = undefined;
      server.view = newer ?? view;
      // what the group agreed on while it did not listen is repeated for it
      const donor =
        server.hasMajority && server.view?.members.find((member) => member !== server && isDonor(member));
      if (donor) receiveFrom(donor, server);
      this.#suspectAgain(server);
    }
    this.#changed(server);
  }

  fail(server: Server, why: string): void {
    server.forget();
    server.state = 'ERROR';
    server.trouble = why;
    this.#changed(server);
  }

  /** group_replication_unreachable_majority_timeout. */
  #giveUpWithoutMajority(server: Server): void {
    const { view, life } = server;
    const stuck = () => server.process === 'running' && server.view !== undefined && !server.hasMajority;
    if (!stuck()) return;
    this.#timeline.after(this.#times.unreachableMajority, () => {
      if (server.life === life && server.view === view && stuck())
        this.fail(server, 'could not reach a majority of the group');
    });
  }

  /** With it there may be a majority again, for what none could decide before: those that go on being silent are expelled. */
  #suspectAgain({ view }: Server): void {
    const { unreachable, expel } = this.#times;
    for (const member of view?.members ?? []) {
      const since = member.silentSince;
      if (!view || since === undefined || this.#timeline.now - since < unreachable) continue;
      this.#timeline.after(expel - unreachable, () => {
        if (member.silentSince === since) this.#expel(member, view);
      });
    }
  }

  #expel(server: Server, old: View): void {
    const witness = old.members.find((member) => member.hasMajority && member.view?.members.includes(server));
    if (!witness?.view) return;
    const { members, primary } = witness.view;
    this.#install(
      members.filter((member) => member.talks && member.view === witness.view),
      primary,
    );
  }

  /** A new view of exactly these members; a primary that is not among them is followed by the ONLINE one with the lowest uuid. */
  #install(members: readonly Server[], before: Server | undefined): void {
    const [first] = members
      .filter((member) => member.state === 'ONLINE')
      .sort((a, b) => (a.volume.uuid < b.volume.uuid ? -1 : 1));
    const primary = before && members.includes(before) ? before : first;
    this.#views += 1;
    const view: View = { id: `view:${this.#views}`, members, primary };
    // one that does not listen learns of it when it does again; one that was restarted is listed, but knows of no group
    for (const member of members)
      if (member.view && (member.listens || members.length === 1)) member.view = view;
    // a primary begins to write when it has executed all that it had received
    primary?.catchUp();
    for (const member of members) this.#changed(member);
  }
}

export const isDonor = (member: Server): boolean => member.talks && member.state === 'ONLINE';

/** Gets all that the donor has, and executes it unless its applier stands still. */
export function receiveFrom(donor: Server, server: Server): void {
  server.volume.received = donor.transactions;
  if (!server.lags) server.catchUp();
}
