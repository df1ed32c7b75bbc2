/**
 * Who owns which field. A field set is a set of paths; a path is its FieldsV1 elements (`f:name`, `k:{…}`, `v:…`) joined by a separator
 * that no element holds. `.` at the end of a path is the map or list item itself.
 */
import { isObject, type Json, type JsonObject } from './json.ts';
import { itemKey, type Shape } from './list-types.ts';

export type Path = string;
export type FieldSet = ReadonlySet<Path>;

const SEPARATOR = '\u0001';
/** Written by the server alone, so nobody owns it. */
const SERVER_METADATA: ReadonlySet<string> = new Set([
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
  'generateName',
]);

/** The leaves of an object, and as null the places in between that can stand alone: items of lists by key, empty maps. */
export function fieldsOf(object: JsonObject, shape: Shape): Map<Path, Json> {
  const found = new Map<Path, Json>();
  for (const [key, value] of Object.entries(object)) {
    if (key === 'apiVersion' || key === 'kind') continue;
    if (key === 'metadata' && isObject(value)) {
      const own = Object.fromEntries(Object.entries(value).filter(([name]) => !SERVER_METADATA.has(name)));
      if (Object.keys(own).length > 0) collect(own, shape.child(key), ['f:metadata'], found);
    } else {
      collect(value, shape.child(key), [`f:${key}`], found);
    }
  }
  return found;
}

function collect(value: Json, shape: Shape, path: readonly string[], into: Map<Path, Json>): void {
  const add = (extra: readonly string[], leaf: Json) => into.set([...path, ...extra].join(SEPARATOR), leaf);
  if (Array.isArray(value) && shape.list.type === 'map') {
    for (const item of value) {
      const key = `k:${itemKey(item, shape.list.keys)}`;
      add([key, '.'], null);
      collect(item, shape.item(), [...path, key], into);
    }
  } else if (Array.isArray(value) && shape.list.type === 'set') {
    for (const item of value) add([`v:${JSON.stringify(item)}`], item);
  } else if (isObject(value) && !shape.atomicMap) {
    const entries = Object.entries(value);
    if (entries.length === 0) add([], null);
    for (const [key, child] of entries) collect(child, shape.child(key), [...path, `f:${key}`], into);
  } else {
    add([], value);
  }
}

export const elementsOf = (path: Path): string[] => path.split(SEPARATOR);

/** The order in which Kubernetes lists fields: at each level first those that end there. */
export function byDepth(a: Path, b: Path): number {
  const [left, right] = [elementsOf(a), elementsOf(b)];
  const at = left.findIndex((element, index) => element !== right[index]);
  const [leftEnds, rightEnds] = [at === left.length - 1, at === right.length - 1];
  if (leftEnds !== rightEnds) return leftEnds ? -1 : 1;
  return (left[at] ?? '') < (right[at] ?? '') ? -1 : 1;
}

/** `.spec.containers[name="mysqld"].image`, as kubectl prints a conflict. */
export function humanPath(path: Path): string {
  return elementsOf(path)
    .filter((element) => element !== '.')
    .map((element) => {
      if (element.startsWith('f:')) return `.${element.slice(2)}`;
      if (element.startsWith('v:')) return `[=${element.slice(2)}]`;
      const keys: unknown = JSON.parse(element.slice(2));
      return `[${Object.entries(keys as JsonObject)
        .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
        .join(',')}]`;
    })
    .join('');
}

/** FieldsV1, the form on the wire. */
export function toFieldsV1(set: FieldSet): JsonObject {
  const root: JsonObject = {};
  for (const path of [...set].sort()) {
    let node = root;
    for (const element of elementsOf(path)) {
      const next = node[element];
      const child: JsonObject = isObject(next) ? next : {};
      node[element] = child;
      node = child;
    }
  }
  return root;
}

/** The leaves of a FieldsV1 tree: what a client that rewrites managedFields hands back. */
export function fromFieldsV1(tree: JsonObject, path: readonly string[] = []): Set<Path> {
  const found = new Set<Path>();
  for (const [element, child] of Object.entries(tree)) {
    const inner = isObject(child) ? Object.keys(child) : [];
    if (inner.length === 0) found.add([...path, element].join(SEPARATOR));
    else if (isObject(child)) for (const one of fromFieldsV1(child, [...path, element])) found.add(one);
  }
  return found;
}
