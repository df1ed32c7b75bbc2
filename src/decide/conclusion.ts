/** What a rule concludes. decide() adds the duties and makes a Verdict of it. */
import type { Membership } from '../desired/index.ts';
import type { BootstrapRecord } from '../resource/mysql.ts';
import type { Facts } from './facts.ts';
import type { Action, State } from './verdict.ts';

export interface Conclusion {
  readonly state: State;
  readonly message: string;
  readonly transitional: boolean;
  /** At most one of these is disruptive. */
  readonly actions?: readonly Action[];
  /** Another membership than the live one. */
  readonly membership?: Membership;
  readonly bootstrap?: BootstrapRecord;
  /** `none`: not even the duties (Paused). `noObjects`: owned objects stay as they are. Default: all duties. */
  readonly duties?: 'none' | 'noObjects';
}

/** Undefined: the rule does not match, the next one is asked. */
export type Rule = (facts: Facts) => Conclusion | undefined;
