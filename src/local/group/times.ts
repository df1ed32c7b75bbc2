/**
 * How long things take in a real group, in milliseconds: measured on MySQL 9.7 with group_replication_member_expel_timeout = 0 on two
 * cores. The model divides them by its speed.
 */
export interface Times {
  /** Process start to answering. */
  readonly start: number;
  /** Silence until the others call a member UNREACHABLE. */
  readonly unreachable: number;
  /** Silence until it is expelled and, when it was the primary, another one elected. */
  readonly expel: number;
  /** START GROUP_REPLICATION to ONLINE, when the missing transactions come from the others' binary logs. */
  readonly recover: number;
  /** A clone, up to the restart of the server. */
  readonly clone: number;
  /** A woken member still believes its old view for this long. */
  readonly delusion: number;
  /** group_replication_unreachable_majority_timeout. */
  readonly unreachableMajority: number;
}

const MEASURED: Times = {
  start: 1_000,
  unreachable: 5_000,
  expel: 6_500,
  recover: 2_500,
  clone: 7_000,
  delusion: 3_000,
  unreachableMajority: 20_000,
};

export const timesAt = (speed: number): Times => ({
  start: MEASURED.start / speed,
  unreachable: MEASURED.unreachable / speed,
  expel: MEASURED.expel / speed,
  recover: MEASURED.recover / speed,
  clone: MEASURED.clone / speed,
  delusion: MEASURED.delusion / speed,
  unreachableMajority: MEASURED.unreachableMajority / speed,
});
