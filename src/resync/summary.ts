/**
 * What a resync must know of a Mysql's StatefulSet and pods, in some hundred bytes: so 10,000 clusters fit into a few megabytes while
 * their objects go by in pages. Joined by name, because pods sorted by name are not sorted by cluster (`a-0`, `a-0-0`, `a-1`).
 */
import type { StatefulSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { LABEL, parsePodName, refKey, refOf } from '../resource/names.ts';

export interface Summary {
  /** Uid of the controlling owner; undefined while no StatefulSet was seen. */
  owner: string | undefined;
  /** Replicas that its StatefulSet has, seen to and all ready; undefined while it is at work or was not seen. */
  settledReplicas: number | undefined;
  pods: number;
  /** Pods that are Ready, in no deletion and have a role. */
  good: number;
  /** Name of the pod that has the primary's label; undefined for none or several. */
  primary: string | undefined;
  /** When the readiness of a pod changed last, in milliseconds since 1970. */
  changedAt: number;
}

export class Summaries {
  readonly #byKey = new Map<string, Summary>();

  get(key: string): Summary | undefined {
    return this.#byKey.get(key);
  }

  addStatefulSet(set: StatefulSet): void {
    const summary = this.#summary(refKey(refOf(set)));
    const { spec, status, metadata } = set;
    const replicas = spec?.replicas ?? 1;
    const seenTo = status?.observedGeneration === metadata?.generation && !metadata?.deletionTimestamp;
    const complete = status?.replicas === replicas && (status.readyReplicas ?? 0) === replicas;
    summary.owner = metadata?.ownerReferences?.find((owner) => owner.controller)?.uid;
    summary.settledReplicas = seenTo && complete ? replicas : undefined;
  }

  addPod(pod: Pod): void {
    const { metadata, status } = pod;
    const of = parsePodName(metadata?.name ?? '');
    if (!of || metadata?.labels?.[LABEL.cluster] !== of.cluster) return;
    const summary = this.#summary(refKey({ namespace: metadata.namespace ?? '', name: of.cluster }));
    const ready = status?.conditions?.find((condition) => condition.type === 'Ready');
    const role = metadata.labels[LABEL.role];
    summary.pods += 1;
    if (ready?.status === 'True' && role !== undefined && !metadata.deletionTimestamp) summary.good += 1;
    if (role === 'primary') summary.primary = summary.primary === undefined ? metadata.name : SEVERAL;
    summary.changedAt = Math.max(summary.changedAt, Date.parse(ready?.lastTransitionTime ?? '') || 0);
  }

  #summary(key: string): Summary {
    const known = this.#byKey.get(key);
    if (known) return known;
    const fresh: Summary = {
      owner: undefined,
      settledReplicas: undefined,
      pods: 0,
      good: 0,
      primary: undefined,
      changedAt: 0,
    };
    this.#byKey.set(key, fresh);
    return fresh;
  }
}

/** No pod is called so. */
const SEVERAL = '';
