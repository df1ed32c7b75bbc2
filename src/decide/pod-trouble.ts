/** Why a pod's server cannot answer yet, in words for a person, from the pod alone. */
import type { Pod } from 'kubernetes-types/core/v1.d.ts';

export interface PodTrouble {
  /** Follows the pod's name: `db-1 is Pending`, `db-1 ImagePullBackOff: …`. */
  readonly why: string;
  /** True when only a change from outside helps (image, quota, volume, scheduling): looking again soon is no use. */
  readonly stuck: boolean;
}

/** The most telling cause first; undefined for a pod whose container may run. */
export function podTrouble(pod: Pod): PodTrouble | undefined {
  if (pod.metadata?.deletionTimestamp) return { why: 'is being deleted', stuck: false };
  const { status } = pod;
  for (const container of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]) {
    const waiting = container.state?.waiting;
    if (waiting?.reason && !STARTING.has(waiting.reason)) {
      return { why: `${waiting.reason}${waiting.message ? `: ${waiting.message}` : ''}`, stuck: true };
    }
  }
  const unscheduled = status?.conditions?.find(
    (condition) => condition.type === 'PodScheduled' && condition.status === 'False',
  );
  if (unscheduled) {
    const cause = unscheduled.message ?? unscheduled.reason ?? 'no reason given';
    return { why: `cannot be scheduled: ${cause}`, stuck: true };
  }
  if (status?.phase !== 'Running') return { why: `is ${status?.phase ?? 'Pending'}`, stuck: false };
  return status.podIP ? undefined : { why: 'has no address yet', stuck: false };
}

/** Waiting reasons of every start, no complaint. */
const STARTING: ReadonlySet<string> = new Set(['PodInitializing', 'ContainerCreating']);
