/** A pod's status, from where it is and what its server says. */
import type { Json, JsonObject } from '../api/json.ts';
import { at, textAt } from '../api/json.ts';
import type { Server } from '../group/server.ts';
import { conditionOf, objectsAt, timestamp } from './objects.ts';

export type PodPlace =
  | { readonly is: 'unschedulable'; readonly why: string }
  /** A pod without a modelled server just runs. */
  | { readonly is: 'placed'; readonly address: string; readonly server: Server | undefined };

/** Images that nobody can pull, so that it can be seen what happens then. */
const UNPULLABLE = /(^|[/:])(bad|missing)/;

/** A pod of another scheduler is another's. */
export const isOurs = (pod: JsonObject): boolean => {
  const scheduler = textAt(pod, 'spec', 'schedulerName');
  return scheduler === undefined || scheduler === 'default-scheduler';
};

export const unpullable = (pod: JsonObject): boolean =>
  objectsAt(pod, 'spec', 'containers').some((container) => UNPULLABLE.test(textAt(container, 'image') ?? ''));

export function podStatus(pod: JsonObject, place: PodPlace, now: Date): JsonObject {
  const condition = (type: string, holds: boolean, more: JsonObject = {}): Json => {
    const status = holds ? 'True' : 'False';
    const before = conditionOf(pod, type);
    const since = before?.status === status ? before.lastTransitionTime : undefined;
    return { type, status, lastTransitionTime: since ?? timestamp(now), ...more };
  };
  if (place.is === 'unschedulable') {
    const message = `0/1 nodes are available: 1 ${place.why}.`;
    return {
      phase: 'Pending',
      conditions: [condition('PodScheduled', false, { reason: 'Unschedulable', message })],
    };
  }
  const { server } = place;
  const startTime = textAt(pod, 'status', 'startTime') ?? timestamp(now);
  const running = !unpullable(pod);
  const ready = running && (server === undefined || (server.answers && server.state === 'ONLINE'));
  return {
    phase: running ? 'Running' : 'Pending',
    podIP: place.address,
    podIPs: [{ ip: place.address }],
    startTime,
    conditions: [
      condition('PodScheduled', true),
      condition('Initialized', true),
      condition('ContainersReady', ready),
      condition('Ready', ready),
    ],
    containerStatuses: objectsAt(pod, 'spec', 'containers').map((container) => ({
      name: at(container, 'name') ?? '',
      image: at(container, 'image') ?? '',
      imageID: '',
      restartCount: 0,
      ready,
      started: running,
      state: running ? { running: { startedAt: startTime } } : waiting(textAt(container, 'image') ?? ''),
    })),
  };
}

const waiting = (image: string): JsonObject => ({
  waiting: { reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}"` },
});
