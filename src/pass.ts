/** One look at one Mysql, from reading to writing, as the server and the log see it. */
import type { State } from './decide/verdict.ts';
import type { Failure } from './errors.ts';

export interface Pass {
  /** `Gone`: there is no such Mysql, or it is being deleted; garbage collection does the rest. `Unknown`: it could not be read. */
  readonly state: State | 'Gone' | 'Unknown';
  readonly message: string;
  /** Uid of the Mysql that was looked at; undefined when Gone. */
  readonly uid: string | undefined;
  /** Writes that reached the API server or a member, failed ones not counted. */
  readonly writes: number;
  /** True when something is under way or was just changed: look again soon. */
  readonly again: boolean;
  /** The first failure; the other actions were tried all the same. */
  readonly failure: Failure | undefined;
}
