/**
 * One live snapshot: the Mysql, then everything else side by side, then the members. On a settled cluster that is eight requests in
 * two round trips. Nothing is cached and nothing of an event is used.
 */
import type { StatefulSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Pod, Service } from 'kubernetes-types/core/v1.d.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import type { Access, MemberReport, Members } from '../mysql/members.ts';
import type { Mysql } from '../resource/mysql.ts';
import {
  configMapName,
  disruptionBudgetName,
  type MysqlRef,
  nodesServiceName,
  parsePodName,
  primaryServiceName,
  readServiceName,
  secretName,
  selectorLabels,
  statefulSetName,
} from '../resource/names.ts';
import { accessOf } from './access.ts';
import type { Observed } from './observed.ts';
import { memberOf } from './pods.ts';

export interface Sources {
  readonly cluster: Cluster;
  readonly members: Members;
  readonly clock: () => Date;
}

/** Undefined when there is no such Mysql or it is being deleted: garbage collection does the rest. */
export async function observe(
  ref: MysqlRef,
  sources: Sources,
  signal: AbortSignal,
): Promise<Observed | undefined> {
  const { cluster, members, clock } = sources;
  const { namespace, name } = ref;
  const mysql = await cluster.get('Mysql', namespace, name, signal);
  if (!mysql || mysql.metadata.deletionTimestamp) return undefined;

  const labels = selectorLabels(name);
  const [statefulSet, allPods, services, secret, configMap, disruptionBudget, claims] = await Promise.all([
    cluster.get('StatefulSet', namespace, statefulSetName(name), signal),
    cluster.list('Pod', namespace, labels, signal),
    cluster.list('Service', namespace, labels, signal),
    cluster.get('Secret', namespace, secretName(name), signal),
    cluster.get('ConfigMap', namespace, configMapName(name), signal),
    cluster.get('PodDisruptionBudget', namespace, disruptionBudgetName(name), signal),
    cluster.list('PersistentVolumeClaim', namespace, labels, signal),
  ]);
  const pods = ownPods(allPods, statefulSet);
  const access = accessOf(secret);
  // a Service that is not among ours may exist all the same and belong to somebody else
  const service = async (wanted: string): Promise<Service | undefined> =>
    services.find((one) => one.metadata?.name === wanted) ??
    cluster.get('Service', namespace, wanted, signal);
  const [primaryService, readService, nodesService, creationTrouble, reports] = await Promise.all([
    service(primaryServiceName(name)),
    service(readServiceName(name)),
    service(nodesServiceName(name)),
    creationTroubleOf(statefulSet, pods, cluster, signal),
    ask(mysql, pods, access, members, signal),
  ]);
  return {
    mysql,
    children: { statefulSet, primaryService, readService, nodesService, secret, configMap, disruptionBudget },
    pods,
    claims: [...claims].sort((a, b) => ordinalOf(a) - ordinalOf(b)),
    reports,
    access,
    creationTrouble,
    at: clock(),
  };
}

const ordinalOf = (object: { readonly metadata?: { readonly name?: string } }): number =>
  parsePodName(object.metadata?.name ?? '')?.ordinal ?? Number.MAX_SAFE_INTEGER;

/** Pods of an earlier StatefulSet of the same name, and somebody's pods with our labels, are not members. */
const ownPods = (pods: readonly Pod[], statefulSet: StatefulSet | undefined): readonly Pod[] =>
  pods
    .filter((pod) =>
      pod.metadata?.ownerReferences?.some(
        (owner) => owner.controller && owner.uid === statefulSet?.metadata?.uid,
      ),
    )
    .sort((a, b) => ordinalOf(a) - ordinalOf(b));

async function ask(
  mysql: Mysql,
  pods: readonly Pod[],
  access: Access | undefined,
  members: Members,
  signal: AbortSignal,
): Promise<readonly MemberReport[]> {
  const reachable = pods.flatMap((pod) => memberOf(mysql, pod) ?? []);
  if (!access) {
    return reachable.map(({ name }) => ({
      answered: false,
      name,
      why: 'cannot be asked: the Secret is incomplete',
    }));
  }
  return reachable.length === 0 ? [] : members.report(reachable, access, signal);
}

/** A pod that cannot be created (quota, admission) exists nowhere but in the newest Event of the StatefulSet. */
async function creationTroubleOf(
  statefulSet: StatefulSet | undefined,
  pods: readonly Pod[],
  cluster: Cluster,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { namespace = '', name = '', uid } = statefulSet?.metadata ?? {};
  if (!statefulSet || pods.length >= (statefulSet.spec?.replicas ?? 0)) return undefined;
  const events = await cluster.events('StatefulSet', namespace, name, signal);
  const newest = events.findLast((event) => event.involvedObject.uid === uid);
  return newest?.type === 'Warning' ? newest.message : undefined;
}
