/** One modelled mysqld: what outlives the process (its volume) and what does not. */

import { EMPTY, type GtidSet } from '../../mysql/gtid.ts';
import type { MemberRole, MemberState, Peer } from '../../mysql/members.ts';

/** The data directory. It outlives pods; its name is the claim's uid. */
export interface Volume {
  uuid: string;
  executed: GtidSet;
  /** Certified and in the relay log, perhaps not executed yet. */
  received: GtidSet;
}

/** A view as its members hold it; the truth about the group is who holds the newest one. */
export interface View {
  readonly id: string;
  readonly members: readonly Server[];
  primary: Server | undefined;
}

export class Server {
  readonly namespace: string;
  readonly cluster: string;
  readonly pod: string;
  readonly host: string;
  readonly address: string;
  readonly version: string;
  readonly volume: Volume;
  /** The process. `starting`, `stopped` and `killed` do not answer; `paused` (SIGSTOP) neither, but keeps its memory. */
  process: 'starting' | 'running' | 'paused' | 'killed' | 'stopped' = 'starting';
  state: MemberState = 'OFFLINE';
  view: View | undefined;
  cloning = false;
  trouble = '';
  /** Cut off from the other members (not from the function). */
  cut = false;
  /** Takes connections and never answers. */
  hangs = false;
  /** When it fell silent to the others; undefined while it talks. */
  silentSince: number | undefined;

  constructor(
    options: Pick<Server, 'namespace' | 'cluster' | 'pod' | 'host' | 'address' | 'version' | 'volume'>,
  ) {
    this.namespace = options.namespace;
    this.cluster = options.cluster;
    this.pod = options.pod;
    this.host = options.host;
    this.address = options.address;
    this.version = options.version;
    this.volume = options.volume;
  }

  get answers(): boolean {
    return this.process === 'running' && !this.hangs;
  }

  /** Whether the group hears from it. */
  get talks(): boolean {
    return this.process === 'running' && !this.cut && this.view !== undefined && this.state !== 'ERROR';
  }

  get role(): MemberRole | undefined {
    if (!this.view || this.state === 'OFFLINE' || this.state === 'ERROR') return undefined;
    return this.view.primary === this ? 'PRIMARY' : 'SECONDARY';
  }

  /** A primary in its own eyes; whether its writes are ever acknowledged is the majority's matter. */
  get believesWritable(): boolean {
    return this.process === 'running' && this.state === 'ONLINE' && this.role === 'PRIMARY';
  }

  /** The group through this member's eyes. */
  peersAt(now: number, unreachableAfter: number): Peer[] {
    if (!this.view || this.state === 'OFFLINE') return [];
    return this.view.members.map((member) => ({
      uuid: member.volume.uuid,
      host: member.host,
      state: this.stateOf(member, now, unreachableAfter),
      role: this.view?.primary === member ? 'PRIMARY' : 'SECONDARY',
    }));
  }

  /** A member that talks is what it says; one that fell silent is UNREACHABLE after a while, and so is everybody for one that is cut off. */
  stateOf(member: Server, now: number, unreachableAfter: number): MemberState {
    if (member === this) return this.state;
    const since = this.cut
      ? this.silentSince
      : member.view?.id === this.view?.id
        ? member.silentSince
        : (member.silentSince ?? now);
    const gone = since !== undefined && now - since >= unreachableAfter;
    return gone ? 'UNREACHABLE' : member.state === 'RECOVERING' ? 'RECOVERING' : 'ONLINE';
  }

  /** The process ends or starts again: all that is in memory is gone. */
  forget(): void {
    this.state = 'OFFLINE';
    this.view = undefined;
    this.trouble = '';
    this.hangs = false;
  }
}

export const newVolume = (uuid: string): Volume => ({ uuid, executed: EMPTY, received: EMPTY });
