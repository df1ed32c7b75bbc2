// Generated from crds/mysql.yaml by `npm run generate`: do not edit.

/**
 * What the cluster should be.
 */
export interface MysqlSpec {
/**
 * Number of members, 0 to 9 (the most that Group Replication allows). 3 survives the loss of one member, 5 of two. An even number survives no more than the odd one below it. 0 hibernates: no pods, all data kept.
 */
size: number
/**
 * Image with mysqld, mysql and bash, for example mysql:8.4. A change rolls the members one at a time, the primary last, after a switchover.
 */
image: string
/**
 * The volume of each member.
 */
storage?: {
/**
 * Size of each member's volume. May grow when the StorageClass allows expansion; never shrinks.
 */
size?: (number | string)
/**
 * StorageClass of the volumes; the cluster's default when absent. Cannot be changed later.
 */
storageClassName?: string
/**
 * What happens to volumes and passwords when this Mysql is deleted. Retain keeps them: a Mysql created again under the same name starts with the old data. Delete removes them.
 */
whenDeleted?: ("Retain" | "Delete")
}
/**
 * CPU and memory of each member's container. MySQL's buffers are sized from the memory limit.
 */
resources?: {
/**
 * Amounts by resource name (cpu, memory).
 */
requests?: {
[k: string]: number | string
}
/**
 * Amounts by resource name (cpu, memory).
 */
limits?: {
[k: string]: number | string
}
}
/**
 * mysqld variables, for example max_connections: "500". A change restarts the members one at a time. Variables that the operator needs for itself are refused by name in the condition Ready.
 */
config?: {
[k: string]: string
}
/**
 * Name of a Secret of yours with the key root-password; it is used for root instead of a generated one. The other accounts stay in the operator's own Secret.
 */
credentialsSecret?: string
/**
 * While true nothing is changed by the operator; status goes on telling what is there.
 */
paused?: boolean
/**
 * Ordinal of the member that should be the primary. A change is a planned switchover.
 */
primary?: number
/**
 * What else the pods carry. A change rolls the members.
 */
podTemplate?: {
/**
 * Further labels; the operator's own win.
 */
labels?: {
[k: string]: string
}
/**
 * Further annotations.
 */
annotations?: {
[k: string]: string
}
/**
 * Node labels that a member's node must have.
 */
nodeSelector?: {
[k: string]: string
}
/**
 * As in a pod; by default members avoid each other's nodes where possible.
 */
affinity?: {
[k: string]: unknown
}
/**
 * As in a pod.
 */
tolerations?: {
[k: string]: unknown
}[]
/**
 * As in a pod.
 */
topologySpreadConstraints?: {
[k: string]: unknown
}[]
/**
 * As in a pod.
 */
priorityClassName?: string
/**
 * Secrets with registry credentials.
 */
imagePullSecrets?: {
/**
 * Name of the Secret.
 */
name?: string
}[]
/**
 * As in a pod; the pods need no permissions.
 */
serviceAccountName?: string
}
}

/**
 * What the cluster is. Written by the operator only.
 */
export interface MysqlStatus {
/**
 * Names of the ONLINE members, sorted.
 */
nodes?: string[]
/**
 * Name of the member that accepts writes; absent when there is none.
 */
primary?: string
/**
 * One entry per member, by ordinal.
 */
members?: {
/**
 * Pod name.
 */
name: string
/**
 * PRIMARY or SECONDARY in the group's majority view.
 */
role?: string
/**
 * MEMBER_STATE of Group Replication, or Missing, NotReady, Unanswering where the server says nothing.
 */
state: string
/**
 * Version of the server.
 */
version?: string
/**
 * What keeps this member from serving.
 */
message?: string
}[]
/**
 * Number of pods (scale subresource).
 */
replicas?: number
/**
 * Label selector of the pods (scale subresource).
 */
selector?: string
/**
 * The generation of spec that this status speaks of.
 */
observedGeneration?: number
/**
 * Which member was chosen to start the group. Written by compare-and-swap before it is acted on.
 */
bootstrap?: {
/**
 * Pod name.
 */
member: string
/**
 * gtid_executed of that member when it was chosen.
 */
executed: string
/**
 * When it was chosen.
 */
at: string
}
/**
 * Ready, Available (accepts writes), Progressing, Degraded. The reason of Ready is the cluster's state.
 */
conditions?: {
/**
 * Ready, Available, Progressing or Degraded.
 */
type: string
/**
 * Whether it holds.
 */
status: ("True" | "False" | "Unknown")
/**
 * One word for why.
 */
reason: string
/**
 * The same for a person.
 */
message: string
/**
 * The generation it speaks of.
 */
observedGeneration?: number
/**
 * When status changed last.
 */
lastTransitionTime: string
}[]
}
