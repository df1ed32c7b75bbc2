/** What one pass concludes: one word for the state, one sentence for a person, and what is to be done about it now. */
import type { Identity, Kind, Kinds } from '../kubernetes/cluster.ts';
import type { Member } from '../mysql/members.ts';
import type { BootstrapRecord } from '../resource/mysql.ts';

/**
 * The states of a Mysql, in the order of the rules (src/decide/rules.ts). The word is the reason of condition Ready and the
 * word in the log.
 */
export const STATES = [
  'Paused',
  'Invalid',
  'NameConflict',
  'Hibernated',
  'Hibernating',
  'WaitingForPods',
  'QuorumLost',
  'FullOutage',
  'NotBootstrapped',
  'Errant',
  'Joining',
  'ScalingDown',
  'ScalingUp',
  'RollingOut',
  'SwitchingOver',
  'Healthy',
] as const;
export type State = (typeof STATES)[number];

/** One write to the cluster or one order to a member. Each is idempotent or guarded by the identity it carries. */
export type Action =
  | {
      readonly do: 'apply';
      readonly kind: Kind;
      readonly object: Kinds[Kind];
      readonly live: Identity | undefined;
    }
  | { readonly do: 'create'; readonly kind: Kind; readonly object: Kinds[Kind] }
  | { readonly do: 'delete'; readonly target: Identity; readonly orphan: boolean; readonly why: string }
  /** Null: the label is to be absent. */
  | {
      readonly do: 'relabel';
      readonly target: Identity;
      readonly labels: Readonly<Record<string, string | null>>;
    }
  | { readonly do: 'removeAnnotations'; readonly target: Identity; readonly keys: readonly string[] }
  | { readonly do: 'bootstrap'; readonly member: Member; readonly expected: string }
  | { readonly do: 'join'; readonly member: Member; readonly seeds: readonly Member[] }
  | { readonly do: 'rebuild'; readonly member: Member; readonly donor: Member }
  | { readonly do: 'leave'; readonly member: Member; readonly why: string }
  | { readonly do: 'setPrimary'; readonly via: Member; readonly target: Member; readonly uuid: string };

export interface Verdict {
  readonly state: State;
  /** One or two sentences for a person: what is waited for, which pods or members, and the way out where there is one. */
  readonly message: string;
  /** Carried out in this order; a failing one does not keep the following ones from being tried. */
  readonly actions: readonly Action[];
  /** True while something is under way that may change within seconds: the function looks again by itself. */
  readonly transitional: boolean;
  /** The choice to be recorded in status (by compare-and-swap) before a later pass may act on it. */
  readonly bootstrap?: BootstrapRecord;
}
