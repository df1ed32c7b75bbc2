/** What clients write: who has it, and what was acknowledged. */
import { EMPTY, formatGtidSet, type GtidSet, parseGtidSet, subtract, union } from '../../mysql/gtid.ts';
import type { Server } from './server.ts';

export class Transactions {
  readonly #acknowledged = new Map<string, GtidSet>();
  /** One counter for all groups: were two of them to give the same GTID to different rows, no set would show it. */
  #last = 0;

  /** True when a majority has it; only then does the client hear of it. */
  commit(primary: Server, groupName: string): boolean {
    const transaction = this.broadcast(primary, groupName);
    if (!transaction) return false;
    primary.volume.executed = union(primary.volume.executed, transaction);
    this.#acknowledged.set(nameOf(primary), union(this.#acknowledgedOf(primary), transaction));
    return true;
  }

  /** The other members receive it; undefined when there is no majority of them. */
  broadcast(primary: Server, groupName: string): GtidSet | undefined {
    if (!primary.believesWritable || !primary.hasMajority) return undefined;
    this.#last += 1;
    const transaction = parseGtidSet(`${groupName}:${this.#last}`);
    for (const member of primary.view?.members ?? []) {
      if (member === primary || !member.talks || member.view !== primary.view) continue;
      member.volume.received = union(member.volume.received, transaction);
      if (member.state === 'ONLINE' && !member.lags) member.catchUp();
    }
    return transaction;
  }

  outsideTheGroup(server: Server): void {
    const own = new Map([...server.volume.executed].filter(([source]) => source === server.volume.uuid));
    server.volume.executed = union(
      server.volume.executed,
      parseGtidSet(`${server.volume.uuid}:${count(own) + 1}`),
    );
  }

  missingOn(server: Server): string {
    return formatGtidSet(subtract(this.#acknowledgedOf(server), server.transactions));
  }

  #acknowledgedOf(server: Server): GtidSet {
    return this.#acknowledged.get(nameOf(server)) ?? EMPTY;
  }
}

const nameOf = ({ namespace, cluster }: Server): string => `${namespace}/${cluster}`;

/** How many transactions there are in a set. */
export const count = (set: GtidSet): number =>
  [...set.values()].flat().reduce((sum, [first, last]) => sum + last - first + 1, 0);
