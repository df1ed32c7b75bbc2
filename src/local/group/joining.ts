/** How a server that joins comes by the data of the group: from binary logs, or by a clone. */
import { dialectFor } from '../../mysql/dialect.ts';
import { isEmpty, subtract } from '../../mysql/gtid.ts';
import type { Server } from './server.ts';
import type { Timeline } from './timeline.ts';
import type { Times } from './times.ts';
import { count } from './transactions.ts';
import { isDonor, receiveFrom, type Views } from './views.ts';

export interface JoiningOptions {
  readonly timeline: Timeline;
  readonly times: Times;
  readonly views: Views;
  /** Transactions that a joiner may lack before it clones. */
  readonly cloneThreshold: number;
  readonly changed: (server: Server) => void;
  /** Ends mysqld and starts it again in place. */
  readonly restart: (server: Server) => void;
}

export class Joining {
  readonly #options: JoiningOptions;

  constructor(options: JoiningOptions) {
    this.#options = options;
  }

  /** For a server that was just admitted to the group of `donor`. */
  recover(server: Server, donor: Server): void {
    const missing = subtract(donor.transactions, server.transactions);
    const purged = subtract(donor.volume.purged, server.transactions);
    if (isEmpty(purged) && count(missing) <= this.#options.cloneThreshold) this.#recoverFromLogs(server);
    else if (dialectFor(server.version).clone) this.clone(server, donor);
    else this.#options.views.fail(server, 'needs transactions that no member has in its binary log any more');
  }

  /** Ends with a restart in place: the server then waits, OFFLINE, to be joined. */
  clone(server: Server, donor: Server): void {
    const { timeline, times, views, changed, restart } = this.#options;
    server.cloning = true;
    changed(server);
    timeline.whileItLives(server, times.clone, () => {
      views.depart(server);
      if (!donor.answers) return views.fail(server, 'the donor went away during the clone');
      server.volume.executed = donor.transactions;
      server.volume.received = donor.transactions;
      server.volume.purged = donor.transactions;
      server.forget();
      restart(server);
    });
  }

  #recoverFromLogs(server: Server): void {
    const { timeline, times, views, changed } = this.#options;
    timeline.whileItLives(server, times.recover, () => {
      const donor = server.talks && server.view?.members.find((one) => one !== server && isDonor(one));
      if (!donor) return views.fail(server, 'found no member to recover from');
      receiveFrom(donor, server);
      server.state = 'ONLINE';
      changed(server);
    });
  }
}
