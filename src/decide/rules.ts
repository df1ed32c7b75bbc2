/** The behaviour of the operator in one list: the first rule that matches names the state and says what is done. */
import type { Rule } from './conclusion.ts';
import { errant } from './errant.ts';
import { fullOutage } from './full-outage.ts';
import { hibernation } from './hibernation.ts';
import { invalid } from './invalid.ts';
import { callingBack, joining } from './joining.ts';
import { nameConflict } from './name-conflict.ts';
import { paused } from './paused.ts';
import { quorumLost } from './quorum-lost.ts';
import { awaitingRevision, replacingBroken, rollingOut } from './rolling-out.ts';
import { resizingUnstarted, scalingDown, scalingUp } from './scaling.ts';
import { switchingOver } from './switching-over.ts';
import { waitingForPods } from './waiting-for-pods.ts';

export const rules: readonly Rule[] = [
  paused,
  invalid,
  nameConflict,
  hibernation,
  resizingUnstarted,
  replacingBroken,
  waitingForPods,
  quorumLost,
  fullOutage,
  callingBack,
  errant,
  joining,
  scalingDown,
  scalingUp,
  rollingOut,
  switchingOver,
  awaitingRevision,
];
