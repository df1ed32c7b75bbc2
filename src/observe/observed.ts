/**
 * Everything a verdict may rest on: one live snapshot of a Mysql, what it owns and what its members say, as plain data.
 * No promises, no clients: decide, desired and report are pure functions of it.
 */
import type { StatefulSet } from 'kubernetes-types/apps/v1.d.ts';
import type { ConfigMap, PersistentVolumeClaim, Pod, Secret, Service } from 'kubernetes-types/core/v1.d.ts';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts';
import type { Access, MemberReport } from '../mysql/members.ts';
import type { Mysql } from '../resource/mysql.ts';

/** The live children, found by their names; foreign ones (another owner, or none and not our labels) included. */
export interface Children {
  readonly statefulSet: StatefulSet | undefined;
  readonly primaryService: Service | undefined;
  readonly readService: Service | undefined;
  readonly nodesService: Service | undefined;
  readonly secret: Secret | undefined;
  readonly configMap: ConfigMap | undefined;
  readonly disruptionBudget: PodDisruptionBudget | undefined;
}

export interface Observed {
  readonly mysql: Mysql;
  readonly children: Children;
  /** The cluster's pods that belong to the live StatefulSet (by owner uid), by ordinal; those being deleted included. */
  readonly pods: readonly Pod[];
  /** The cluster's volume claims, by ordinal. */
  readonly claims: readonly PersistentVolumeClaim[];
  /** What each pod that has an address said, in the order of `pods`. */
  readonly reports: readonly MemberReport[];
  /** Accounts and group name; undefined while there is no complete Secret. */
  readonly access: Access | undefined;
  /** Newest Warning of the StatefulSet about pods that it cannot create (quota, admission); undefined when all exist. */
  readonly creationTrouble: string | undefined;
  /** When this was observed (injected clock). */
  readonly at: Date;
}
