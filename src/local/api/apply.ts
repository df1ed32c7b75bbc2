/** Server-side apply: merge what a manager wants into what is there, by ownership (Kubernetes documentation, "Server-Side Apply"). */
import { byDepth, elementsOf, fieldsOf, humanPath, type Path } from './fields.ts';
import { copy, isObject, type Json, type JsonObject, same } from './json.ts';
import { itemKey, type Shape } from './list-types.ts';
import { type Manager, type ManagerId, type Managers, othersOwning } from './managers.ts';
import { StatusError } from './status-error.ts';

export interface Merged {
  readonly object: JsonObject;
  /** The fields of the intent: what the manager owns from now on. */
  readonly owned: ReadonlySet<Path>;
  /** Fields that others own no longer: forced away, or gone with what they were in. */
  readonly taken: readonly Path[];
}

/** Throws Conflict, naming manager and field, when others own what would change and `force` is not given. */
export function applyIntent(
  live: JsonObject,
  intent: JsonObject,
  managers: Managers,
  id: ManagerId,
  options: { readonly force: boolean; readonly shape: Shape },
): Merged {
  const { force, shape } = options;
  const wanted = fieldsOf(intent, shape);
  const current = fieldsOf(live, shape);
  const contested = [...wanted].filter(([path, value]) => {
    // that a place is there contradicts nobody
    const differs = value !== null && !same(value, current.get(path));
    return differs && othersOwning(managers, path, id).length > 0;
  });
  if (contested.length > 0 && !force)
    throw conflictOf(
      contested.map(([path]) => path),
      managers,
      id,
    );

  const object = mergeInto(copy(live), intent, shape);
  const before = managers.find(
    (one) => one.name === id.name && one.operation === id.operation && one.subresource === id.subresource,
  );
  const dropped = [...(before?.fields ?? [])].filter((path) => !wanted.has(path));
  for (const path of dropped.filter((one) => othersOwning(managers, one, id).length === 0))
    remove(object, elementsOf(path), shape);
  const left = fieldsOf(object, shape);
  const vanished = [...current.keys()].filter((path) => !left.has(path));
  return {
    object,
    owned: new Set(wanted.keys()),
    taken: [...contested.map(([path]) => path), ...vanished],
  };
}

function conflictOf(paths: readonly Path[], managers: Managers, id: ManagerId): StatusError {
  const conflicts = paths
    .toSorted(byDepth)
    .flatMap((path) =>
      othersOwning(managers, path, id).map((owner) => ({ owner: described(owner), field: humanPath(path) })),
    )
    .sort((a, b) => (a.owner < b.owner ? -1 : a.owner > b.owner ? 1 : 0));
  const causes = conflicts.map(({ owner, field }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${owner}`,
    field,
  }));
  return new StatusError('Conflict', `Apply failed with ${listed(conflicts)}`, { causes });
}

interface FieldConflict {
  readonly owner: string;
  readonly field: string;
}

/** One in a line, more of them by their owners. */
function listed(conflicts: readonly FieldConflict[]): string {
  const [only, ...others] = conflicts;
  if (only && others.length === 0) return `1 conflict: conflict with ${only.owner}: ${only.field}`;
  const groups = [...Map.groupBy(conflicts, ({ owner }) => owner)].map(([owner, owned]) =>
    [`conflicts with ${owner}:`, ...owned.map(({ field }) => `- ${field}`)].join('\n'),
  );
  return `${conflicts.length} conflicts: ${groups.join('\n')}`;
}

const described = ({ name, subresource, operation, apiVersion }: Manager): string =>
  JSON.stringify(name) +
  (subresource ? ` with subresource ${JSON.stringify(subresource)}` : '') +
  (operation === 'Update' ? ` using ${apiVersion}` : '');

/** Everything of `intent` laid over `base`, lists by their types; server-managed metadata apart. */
function mergeInto(base: JsonObject, intent: JsonObject, shape: Shape): JsonObject {
  for (const [key, value] of Object.entries(intent)) {
    if (value !== null) base[key] = merged(base[key], value, shape.child(key));
  }
  return base;
}

function merged(base: Json | undefined, intent: Json, shape: Shape): Json {
  if (Array.isArray(intent)) return mergedList(Array.isArray(base) ? base : [], intent, shape);
  if (isObject(intent) && isObject(base) && !shape.atomicMap) return mergeInto(base, intent, shape);
  return copy(intent);
}

function mergedList(base: Json[], intent: Json[], shape: Shape): Json[] {
  const { list } = shape;
  switch (list.type) {
    case 'atomic':
      return copy(intent);
    case 'set':
      return mergedItems(base, intent, (item) => JSON.stringify(item), copy);
    case 'map':
      return mergedItems(
        base,
        intent,
        (item) => itemKey(item, list.keys),
        (item, live) => merged(live, item, shape.item()),
      );
    default:
      return list satisfies never;
  }
}

/**
 * The items of both, in the order of the intent; those that are live only keep their places before the next one that both have, as in
 * Kubernetes.
 */
function mergedItems(
  base: readonly Json[],
  intent: readonly Json[],
  keyOf: (item: Json) => string,
  merge: (item: Json, live: Json | undefined) => Json,
): Json[] {
  const live = new Map(base.map((item) => [keyOf(item), item]));
  const wanted = new Set(intent.map(keyOf));
  const shared = intent.map(keyOf).filter((key) => live.has(key));
  const rest = [...live.keys()];
  const result: Json[] = [];
  const takeUntil = (end: string | undefined): void => {
    while (rest[0] !== undefined && rest[0] !== end) {
      const key = rest.shift() ?? '';
      const item = live.get(key);
      if (!wanted.has(key) && item !== undefined) result.push(item);
    }
  };
  for (const item of intent) {
    const key = keyOf(item);
    takeUntil(shared[0]);
    result.push(merge(item, live.get(key)));
    if (key === shared[0]) shared.shift();
  }
  takeUntil(undefined);
  return result;
}

/** Takes the value at a path out, and containers that it leaves empty. */
function remove(node: Json | undefined, path: readonly string[], shape: Shape): void {
  const [element, ...rest] = path;
  if (element === undefined || node === undefined) return;
  if (element.startsWith('f:') && isObject(node)) {
    const key = element.slice(2);
    if (rest.length === 0) {
      // an empty map was applied once: what others put into it since is theirs
      if (isEmpty(node[key]) || !isObject(node[key]) || shape.child(key).atomicMap) delete node[key];
    } else {
      const child = node[key];
      remove(child, rest, shape.child(key));
      if (isEmpty(child)) delete node[key];
    }
  } else if (Array.isArray(node)) {
    removeItem(node, element, rest, shape);
  }
}

function removeItem(node: Json[], element: string, rest: readonly string[], shape: Shape): void {
  const { list } = shape;
  const index = node.findIndex((item) =>
    element.startsWith('v:')
      ? JSON.stringify(item) === element.slice(2)
      : list.type === 'map' && `k:${itemKey(item, list.keys)}` === element,
  );
  if (index === -1) return;
  if (rest.length === 0 || rest[0] === '.') node.splice(index, 1);
  else remove(node[index], rest, shape.item());
}

const isEmpty = (value: Json | undefined): boolean =>
  (isObject(value) && Object.keys(value).length === 0) || (Array.isArray(value) && value.length === 0);
