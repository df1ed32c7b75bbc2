/** One modelled mysqld: what outlives the process (its volume) and what does not. */

import { EMPTY, formatGtidSet, type GtidSet, parseGtidSet, union } from '../../mysql/gtid.ts';
import type { MemberRole, MemberState, Peer } from '../../mysql/members.ts';

/** The data directory. It outlives pods; its name is the claim's uid. */
export interface Volume {
  readonly uuid: string;
  executed: GtidSet;
  /** Certified and in the relay log, perhaps not executed yet. */
  received: GtidSet;
  /** Executed, but no longer in the binary log: a joiner that lacks one of these must clone. */
  purged: GtidSet;
}

/** A view as its members hold it; the truth about the group is who holds the newest one. */
export interface View {
  readonly id: string;
  readonly members: readonly Server[];
  primary: Server | undefined;
}

export interface ServerOptions {
  readonly namespace: string;
  readonly cluster: string;
  readonly pod: string;
  readonly host: string;
  readonly address: string;
  readonly version: string;
  readonly volume: Volume;
}

export class Server {
  readonly namespace: string;
  readonly cluster: string;
  readonly pod: string;
  readonly host: string;
  readonly address: string;
  readonly version: string;
  readonly volume: Volume;
  /** `starting` and `stopped` do not answer; `paused` (SIGSTOP) neither, but keeps its memory. */
  process: 'starting' | 'running' | 'paused' | 'stopped' = 'starting';
  state: MemberState = 'OFFLINE';
  view: View | undefined;
  cloning = false;
  trouble = '';
  /** Cut off from the other members (not from the function). */
  cut = false;
  /** Takes connections and never answers; its group does not notice. */
  hangs = false;
  /** Receives transactions and does not execute them. */
  lags = false;
  /** When it fell silent to the others; undefined while it talks. */
  silentSince: number | undefined;
  /** Goes up when the process or its part in a group ends: what was under way until then is void. */
  life = 0;

  constructor({ namespace, cluster, pod, host, address, version, volume }: ServerOptions) {
    this.namespace = namespace;
    this.cluster = cluster;
    this.pod = pod;
    this.host = host;
    this.address = address;
    this.version = version;
    this.volume = volume;
  }

  get answers(): boolean {
    return this.process === 'running' && !this.hangs;
  }

  /** Whether the other members reach it. */
  get listens(): boolean {
    return this.process === 'running' && !this.cut;
  }

  /** Whether a group hears from it. */
  get talks(): boolean {
    return this.listens && this.view !== undefined;
  }

  get role(): MemberRole | undefined {
    if (!this.view) return undefined;
    return this.view.primary === this ? 'PRIMARY' : 'SECONDARY';
  }

  /** A primary in its own eyes; whether its writes are ever acknowledged is the majority's matter. */
  get believesWritable(): boolean {
    return this.process === 'running' && this.state === 'ONLINE' && this.role === 'PRIMARY';
  }

  /** All that it could bring into a group. */
  get transactions(): GtidSet {
    return union(this.volume.executed, this.volume.received);
  }

  /** More than half of its view hears it and holds the same view: only then are its writes acknowledged and can it take in others. */
  get hasMajority(): boolean {
    const { view } = this;
    if (!view || !this.talks) return false;
    const hearing = view.members.filter((member) => member.talks && member.view === view);
    return hearing.length * 2 > view.members.length;
  }

  /** The group through this member's eyes. A member in ERROR sees itself alone. */
  peersAt(now: number, unreachableAfter: number): Peer[] {
    if (!this.view) {
      if (this.state !== 'ERROR') return [];
      return [{ uuid: this.volume.uuid, host: this.host, state: 'ERROR', role: undefined }];
    }
    return this.view.members.map((member) => ({
      uuid: member.volume.uuid,
      host: member.host,
      state: this.#sees(member, now, unreachableAfter),
      role: this.view?.primary === member ? 'PRIMARY' : 'SECONDARY',
    }));
  }

  /** Who fell silent is UNREACHABLE after a while, and so is everybody for one that is cut off. The state itself is the last one heard. */
  #sees(member: Server, now: number, unreachableAfter: number): MemberState {
    if (member === this) return this.state;
    const since = this.cut ? this.silentSince : member.silentSince;
    if (since !== undefined && now - since >= unreachableAfter) return 'UNREACHABLE';
    return member.state === 'RECOVERING' ? 'RECOVERING' : 'ONLINE';
  }

  /** The process ends or stops replicating: all that is in memory is gone. */
  forget(): void {
    this.life += 1;
    this.state = 'OFFLINE';
    this.view = undefined;
    this.cloning = false;
    this.trouble = '';
  }

  /** Executes what it has received. */
  catchUp(): void {
    this.volume.executed = this.transactions;
  }
}

/** A data directory as JSON. */
export type SavedVolume = { readonly [field in keyof Volume]: string };

export const newVolume = (uuid: string): Volume => ({
  uuid,
  executed: EMPTY,
  received: EMPTY,
  purged: EMPTY,
});

export const savedVolume = ({ uuid, executed, received, purged }: Volume): SavedVolume => ({
  uuid,
  executed: formatGtidSet(executed),
  received: formatGtidSet(received),
  purged: formatGtidSet(purged),
});

export const restoredVolume = ({ uuid, executed, received, purged }: SavedVolume): Volume => ({
  uuid,
  executed: parseGtidSet(executed),
  received: parseGtidSet(received),
  purged: parseGtidSet(purged),
});
