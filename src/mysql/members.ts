/**
 * The `Members` port: all that the function asks of the MySQL servers of one cluster. Its adapter on mysql2 is client.ts; the
 * embedded cluster brings a model of Group Replication (src/local/group).
 *
 * Every action is idempotent and bounded: it returns when the server did it, or when it is well under way (START
 * GROUP_REPLICATION, CLONE) and the next report will tell. Actions throw `Retryable` or `Permanent` (src/errors.ts).
 */

/** One member to be: a pod of the StatefulSet. */
export interface Member {
  /** Pod name. */
  readonly name: string;
  readonly ordinal: number;
  /** Address to connect to, the pod's IP (IPv6 without brackets). */
  readonly address: string;
  /** The stable DNS name, as the other members know it (`report_host`). */
  readonly host: string;
}

/** The accounts of one cluster, from its Secret. Never logged. */
export interface Access {
  readonly operator: { readonly user: string; readonly password: string };
  readonly replication: { readonly user: string; readonly password: string };
  /** `group_replication_group_name`, a UUID. */
  readonly groupName: string;
}

/** MEMBER_STATE of performance_schema.replication_group_members. */
export type MemberState = 'ONLINE' | 'RECOVERING' | 'OFFLINE' | 'ERROR' | 'UNREACHABLE';
export type MemberRole = 'PRIMARY' | 'SECONDARY';

/** How one member sees one member of the group (a row of replication_group_members). */
export interface Peer {
  /** server_uuid. */
  readonly uuid: string;
  readonly host: string;
  readonly state: MemberState;
  /** Undefined where the version or the state does not tell. */
  readonly role: MemberRole | undefined;
}

/** What a member that answered says about itself. Its view of itself proves nothing: see src/decide/group.ts. */
export interface MemberAnswer {
  readonly answered: true;
  readonly name: string;
  readonly uuid: string;
  /** `SELECT @@version`, for example 8.4.3. */
  readonly version: string;
  readonly state: MemberState;
  readonly role: MemberRole | undefined;
  /** VIEW_ID of replication_group_member_stats; undefined when OFFLINE. */
  readonly viewId: string | undefined;
  /** The group as this member sees it, itself included; empty when OFFLINE. */
  readonly peers: readonly Peer[];
  /** gtid_executed, as MySQL prints it without line breaks. */
  readonly executed: string;
  /** RECEIVED_TRANSACTION_SET of channel group_replication_applier: certified, maybe not applied yet. '' when none. */
  readonly received: string;
  readonly superReadOnly: boolean;
  /** True while a clone into this member runs. */
  readonly cloning: boolean;
  /** Last reason why it could not join or was expelled (ERROR log or clone status), for a person; '' when none. */
  readonly trouble: string;
}

/** A member that did not answer within its deadline. */
export interface MemberSilence {
  readonly answered: false;
  readonly name: string;
  /** For a person: refused, timed out, access denied, no address yet, … */
  readonly why: string;
}

export type MemberReport = MemberAnswer | MemberSilence;

export interface Members {
  /** Asks all members in parallel, 1 s each; never throws; one report per member, in the order given. */
  report(members: readonly Member[], access: Access, signal: AbortSignal): Promise<MemberReport[]>;

  /**
   * Starts the group on this member alone. Does nothing when the member is in a group already. `expected` is the
   * gtid_executed on which the decision rests: when the server's differs, nothing is done (Retryable).
   */
  bootstrap(member: Member, access: Access, expected: string, signal: AbortSignal): Promise<void>;

  /** Starts replication on this member so that it joins the others; incremental or by clone as the server finds fit. */
  join(member: Member, access: Access, seeds: readonly Member[], signal: AbortSignal): Promise<void>;

  /** Replaces all data of `member` by a clone of `donor`; the member restarts and is then OFFLINE. */
  rebuild(member: Member, access: Access, donor: Member, signal: AbortSignal): Promise<void>;

  /** Stops replication on this member; it stays up, super_read_only. */
  leave(member: Member, access: Access, signal: AbortSignal): Promise<void>;

  /** Asks the group, through `via` (an ONLINE member), to make `target` (a server_uuid) its primary. */
  setPrimary(via: Member, access: Access, target: string, signal: AbortSignal): Promise<void>;
}
