/** What the desired objects need to know besides the Mysql. */
export interface DesiredSettings {
  /** Where a member's probe posts its nudges: `http://host[:port]/path`. */
  readonly nudgeUrl: string;
  /** The pod's scripts by file name (src/mysql/scripts). */
  readonly scripts: Readonly<Record<string, string>>;
  /** A fresh random password of letters and digits. */
  readonly newPassword: () => string;
}

/** How many members the StatefulSet has (replicas) and, while it has none, how many it will have again (noted). */
export interface Membership {
  readonly replicas: number;
  readonly noted?: number;
}
