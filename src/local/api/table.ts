/** Server-side printing: what `kubectl get` asks for, so that the printer columns of the CRD are seen as on a real cluster. */
import { at, isObject, type Json, type JsonObject, textAt } from './json.ts';
import type { Column, Kind } from './kinds.ts';

type Cell = (object: JsonObject, now: Date) => Json;

interface PrintedColumn {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly priority: number;
  readonly cell: Cell;
}

export function toTable(
  kind: Kind,
  objects: readonly JsonObject[],
  metadata: JsonObject,
  now: Date,
): JsonObject {
  const columns = columnsOf(kind);
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: columns.map(({ name, type, description, priority }) => ({
      name,
      type,
      format: name === 'Name' ? 'name' : '',
      description,
      priority,
    })),
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, now)),
      object: {
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: object.metadata ?? {},
      },
    })),
  };
}

function columnsOf(kind: Kind): readonly PrintedColumn[] {
  const custom = kind.columns.map(fromCrd);
  const own =
    custom.length > 0 ? custom : [...(BUILT_IN[kind.kind] ?? []), ...(kind.kind === 'Event' ? [] : [age])];
  return [column('Name', (object) => textAt(object, 'metadata', 'name') ?? ''), ...own];
}

const column = (name: string, cell: Cell, extras: Partial<PrintedColumn> = {}): PrintedColumn => ({
  name,
  type: 'string',
  description: '',
  priority: 0,
  cell,
  ...extras,
});

const path =
  (...keys: readonly string[]): Cell =>
  (object) =>
    at(object, ...keys) ?? '<none>';
const count =
  (...keys: readonly string[]): Cell =>
  (object) => {
    const value = at(object, ...keys);
    return Array.isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : 0;
  };

const age = column('Age', (object, now) => duration(textAt(object, 'metadata', 'creationTimestamp'), now));

/** Kinds with columns of their own; the rest show name and age. */
const BUILT_IN: Readonly<Record<string, readonly PrintedColumn[]>> = {
  Pod: [
    column('Ready', (pod) => {
      const statuses = at(pod, 'status', 'containerStatuses');
      const all = Array.isArray(statuses) ? statuses : [];
      return `${all.filter((one) => at(one, 'ready') === true).length}/${count('spec', 'containers')(pod, new Date(0))}`;
    }),
    column('Status', podStatus),
    column('Restarts', (pod) => at(pod, 'status', 'containerStatuses', '0', 'restartCount') ?? 0, {
      type: 'integer',
    }),
    column('IP', path('status', 'podIP'), { priority: 1 }),
    column('Node', path('spec', 'nodeName'), { priority: 1 }),
  ],
  StatefulSet: [
    column(
      'Ready',
      (set) =>
        `${String(at(set, 'status', 'readyReplicas') ?? 0)}/${String(at(set, 'spec', 'replicas') ?? 0)}`,
    ),
  ],
  Service: [
    column('Type', path('spec', 'type')),
    column('Cluster-IP', path('spec', 'clusterIP')),
    column('Port(s)', (service) => {
      const ports = at(service, 'spec', 'ports');
      return Array.isArray(ports)
        ? ports.map((port) => `${String(at(port, 'port'))}/${textAt(port, 'protocol') ?? 'TCP'}`).join(',')
        : '<none>';
    }),
  ],
  ConfigMap: [column('Data', count('data'), { type: 'integer' })],
  Secret: [column('Type', path('type')), column('Data', count('data'), { type: 'integer' })],
  PersistentVolumeClaim: [
    column('Status', path('status', 'phase')),
    column('Volume', path('spec', 'volumeName')),
    column('Capacity', path('status', 'capacity', 'storage')),
    column('StorageClass', path('spec', 'storageClassName')),
  ],
  PodDisruptionBudget: [
    column('Min Available', path('spec', 'minAvailable')),
    column('Max Unavailable', path('spec', 'maxUnavailable')),
  ],
  Namespace: [column('Status', path('status', 'phase'))],
  Event: [
    column('Last Seen', (event, now) =>
      duration(
        textAt(event, 'lastTimestamp') ??
          textAt(event, 'eventTime') ??
          textAt(event, 'metadata', 'creationTimestamp'),
        now,
      ),
    ),
    column('Type', path('type')),
    column('Reason', path('reason')),
    column(
      'Object',
      (event) =>
        `${(textAt(event, 'involvedObject', 'kind') ?? '').toLowerCase()}/${textAt(event, 'involvedObject', 'name') ?? ''}`,
    ),
    column('Message', path('message')),
  ],
};

function podStatus(pod: JsonObject): Json {
  if (at(pod, 'metadata', 'deletionTimestamp')) return 'Terminating';
  const waiting = at(pod, 'status', 'containerStatuses');
  const reason = Array.isArray(waiting) ? textAt(waiting[0], 'state', 'waiting', 'reason') : undefined;
  return reason ?? textAt(pod, 'status', 'phase') ?? 'Unknown';
}

function fromCrd({ name, type, jsonPath, priority, description }: Column): PrintedColumn {
  return column(
    name,
    (object, now) => {
      const value = evaluate(jsonPath, object);
      if (value === undefined) return null;
      return type === 'date' && typeof value === 'string' ? duration(value, now) : value;
    },
    { type, priority, description },
  );
}

/** `.a.b`, `.a[0]`, `.a[?(@.type=="Ready")].status`: what printer columns use of JSONPath. */
export function evaluate(jsonPath: string, object: Json): Json | undefined {
  const steps = jsonPath.matchAll(/\.([A-Za-z0-9_-]+)|\[(\d+)\]|\[\?\(@\.([A-Za-z0-9_-]+)=="([^"]*)"\)\]/g);
  let node: Json | undefined = object;
  for (const [, field, index, key, wanted] of steps) {
    if (field !== undefined) node = at(node, field);
    else if (!Array.isArray(node)) return undefined;
    else
      node =
        index !== undefined
          ? node[Number(index)]
          : node.find((item) => key !== undefined && at(item, key) === wanted);
  }
  return node;
}

/** As kubectl shows ages: `5s`, `3m12s`, `2h5m`, `4d`. */
export function duration(since: string | undefined, now: Date): string {
  const start = Date.parse(since ?? '');
  if (Number.isNaN(start)) return '<unknown>';
  const seconds = Math.max(0, Math.floor((now.getTime() - start) / 1_000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}
