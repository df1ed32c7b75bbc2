/**
 * The names that tie a Mysql to what belongs to it. Every other file asks here, so that an event for a pod
 * that is already gone, an object about to be made and a label selector always agree.
 */

/** The API group and version that this operator serves (crds/mysql.yaml). */
export const GROUP = 'example.com';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;
export const KIND = 'Mysql';
export const PLURAL = 'mysqls';

/** The field manager of every server-side apply, and the reporting controller of every Event. */
export const FIELD_MANAGER = 'mysql-operator';

/** TCP ports of a member: SQL, and Group Replication too (communication stack MYSQL); 5.7 has its own for the group. */
export const SQL_PORT = 3306;
export const GROUP_PORT_57 = 33061;

export const LABEL = {
  app: 'app',
  cluster: 'mysql.example.com/cluster',
  /** `primary` or `secondary`, from the view of the group's majority; absent while the member is in no such view. */
  role: 'mysql.example.com/role',
  /** `true` on the pods behind the read Service: ONLINE secondaries, the primary too when it is alone. */
  reads: 'mysql.example.com/reads',
  name: 'app.kubernetes.io/name',
  instance: 'app.kubernetes.io/instance',
  managedBy: 'app.kubernetes.io/managed-by',
} as const;

export const ANNOTATION = {
  /** On an owned object: a digest of what was applied last, so that a removed field is seen as a difference too. */
  applied: 'mysql.example.com/applied',
  /** On the pod template: a digest of spec.config, so that a changed variable rolls the members. */
  config: 'mysql.example.com/config',
  /** On the StatefulSet: how many members the group has while replicas are 0 (hibernated). */
  members: 'mysql.example.com/members',
  /** On the Mysql, by the user: the errant member (pod name) to re-clone. */
  rebuild: 'mysql.example.com/rebuild',
  /** On the Mysql, by the user: members (pod names, comma separated) whose transactions may be lost. */
  acceptDataLoss: 'mysql.example.com/accept-data-loss',
} as const;

/** Identifies one Mysql. All work is keyed by it. */
export interface MysqlRef {
  readonly namespace: string;
  readonly name: string;
}

/** The reference to a Mysql, from the object itself. */
export const refOf = (object: {
  readonly metadata?: { readonly namespace?: string | undefined; readonly name?: string | undefined };
}): MysqlRef => ({ namespace: object.metadata?.namespace ?? '', name: object.metadata?.name ?? '' });

export const refKey = (ref: MysqlRef): string => `${ref.namespace}/${ref.name}`;

export const statefulSetName = (cluster: string): string => cluster;
export const primaryServiceName = (cluster: string): string => cluster;
export const readServiceName = (cluster: string): string => `${cluster}-read`;
export const nodesServiceName = (cluster: string): string => `${cluster}-nodes`;
export const secretName = (cluster: string): string => `${cluster}-credentials`;
export const configMapName = (cluster: string): string => `${cluster}-config`;
export const disruptionBudgetName = (cluster: string): string => cluster;
export const podName = (cluster: string, ordinal: number): string => `${cluster}-${ordinal}`;
/** The claim that the StatefulSet controller makes from the template `data`. */
export const claimName = (cluster: string, ordinal: number): string => `data-${cluster}-${ordinal}`;

/** Pod name → cluster and ordinal; undefined for a name no StatefulSet gives. Costs no read, works for a pod that is gone. */
export function parsePodName(pod: string): { cluster: string; ordinal: number } | undefined {
  const match = /^(.+)-(0|[1-9]\d{0,3})$/.exec(pod);
  return match?.[1] && match[2] ? { cluster: match[1], ordinal: Number(match[2]) } : undefined;
}

/** The stable DNS name of a member, as the others and `report_host` know it. */
export const podHost = (ref: MysqlRef, pod: string): string =>
  `${pod}.${nodesServiceName(ref.name)}.${ref.namespace}.svc`;

/** The labels by which a Mysql's objects are found. */
export const selectorLabels = (cluster: string): Record<string, string> => ({
  [LABEL.app]: 'mysql',
  [LABEL.cluster]: cluster,
});

/** The labels on everything a Mysql owns. */
export const ownedLabels = (cluster: string): Record<string, string> => ({
  ...selectorLabels(cluster),
  [LABEL.name]: 'mysql',
  [LABEL.instance]: cluster,
  [LABEL.managedBy]: FIELD_MANAGER,
});
