/**
 * How lists and maps merge (Kubernetes API reference, x-kubernetes-list-type and -map-keys): custom resources say it in their schema,
 * for the built-in kinds this is the part that the served ones need. A list that is not named here is atomic.
 */
import type { Kind } from './kinds.ts';
import type { Schema } from './schema.ts';

export type ListType =
  | { readonly type: 'map'; readonly keys: readonly string[] }
  | { readonly type: 'set' | 'atomic' };

const ATOMIC: ListType = { type: 'atomic' };
const map = (...keys: string[]): ListType => ({ type: 'map', keys });

const METADATA: Readonly<Record<string, ListType>> = {
  ownerReferences: map('uid'),
  finalizers: { type: 'set' },
};

const BUILT_IN: Readonly<Record<string, ListType>> = {
  ...METADATA,
  conditions: map('type'),
  containers: map('name'),
  initContainers: map('name'),
  ephemeralContainers: map('name'),
  env: map('name'),
  volumes: map('name'),
  volumeMounts: map('mountPath'),
  imagePullSecrets: map('name'),
  topologySpreadConstraints: map('topologyKey', 'whenUnsatisfiable'),
  hostAliases: map('ip'),
  secrets: map('name'),
};

/** Maps that are replaced as a whole. */
const ATOMIC_MAPS: ReadonlySet<string> = new Set([
  'selector',
  'nodeSelector',
  'labelSelector',
  'fieldRef',
  'secretKeyRef',
  'configMapKeyRef',
  'resourceFieldRef',
]);

/** Walks along field names and answers for each place; children of what it does not know are atomic lists and granular maps. */
export interface Shape {
  readonly list: ListType;
  readonly atomicMap: boolean;
  child(field: string): Shape;
  item(): Shape;
}

export function shapeOf(kind: Kind): Shape {
  return kind.schema ? customShape(kind.schema, true) : builtInShape('', kind.kind);
}

function builtInShape(field: string, kind: string): Shape {
  return {
    list:
      field === 'ports'
        ? kind === 'Service'
          ? map('port', 'protocol')
          : map('containerPort', 'protocol')
        : (BUILT_IN[field] ?? ATOMIC),
    // a Service's selector is a plain map of strings, and atomic too
    atomicMap: ATOMIC_MAPS.has(field),
    child: (name) => builtInShape(name, kind),
    item: () => builtInShape('', kind),
  };
}

function metadataShape(field: string): Shape {
  return {
    list: METADATA[field] ?? ATOMIC,
    atomicMap: false,
    child: metadataShape,
    item: () => metadataShape(''),
  };
}

function customShape(schema: Schema | undefined, root = false): Shape {
  const type = schema?.['x-kubernetes-list-type'];
  return {
    list:
      type === 'map'
        ? map(...(schema?.['x-kubernetes-list-map-keys'] ?? []))
        : type === 'set'
          ? { type }
          : ATOMIC,
    atomicMap: schema?.['x-kubernetes-map-type'] === 'atomic',
    child: (name) => {
      if (root && name === 'metadata') return metadataShape('');
      const { properties, additionalProperties } = schema ?? {};
      return customShape(
        properties?.[name] ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined),
      );
    },
    item: () => customShape(schema?.items),
  };
}

/** Keys that a built-in kind defaults before lists are matched. */
const DEFAULT_KEYS: Readonly<Record<string, string>> = { protocol: 'TCP' };

/** The identity of an item in a map list, in a form that is equal for equal items. */
export function itemKey(item: unknown, keys: readonly string[]): string {
  const record = typeof item === 'object' && item !== null ? (item as Record<string, unknown>) : {};
  return JSON.stringify(
    Object.fromEntries([...keys].sort().map((key) => [key, record[key] ?? DEFAULT_KEYS[key] ?? null])),
  );
}
