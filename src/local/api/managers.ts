/** The field managers of one object and what each owns, kept beside it and written into managedFields when it goes over the wire. */
import { type FieldSet, fromFieldsV1, type Path, toFieldsV1 } from './fields.ts';
import { isObject, type Json, same, textAt } from './json.ts';

export interface Manager {
  readonly name: string;
  readonly operation: 'Apply' | 'Update';
  readonly subresource: string;
  readonly apiVersion: string;
  readonly time: string;
  readonly fields: FieldSet;
}

export type Managers = readonly Manager[];

/** What identifies an entry: one manager may have several. */
export type ManagerId = Pick<Manager, 'name' | 'operation' | 'subresource'>;

export const isSame = (a: ManagerId, b: ManagerId): boolean =>
  a.name === b.name && a.operation === b.operation && a.subresource === b.subresource;

/** Who else owns a field. */
export const othersOwning = (managers: Managers, path: Path, id: ManagerId): Managers =>
  managers.filter((manager) => !isSame(manager, id) && manager.fields.has(path));

/** Replaces what `manager` owns and takes `taken` from all others; entries that own nothing are dropped. */
export function withManager(managers: Managers, manager: Manager, taken: Iterable<Path> = []): Managers {
  const lost = new Set(taken);
  const others = managers
    .filter((one) => !isSame(one, manager))
    .map((one) => (lost.size === 0 ? one : { ...one, fields: one.fields.difference(lost) }));
  return [...others, manager].filter((one) => one.fields.size > 0);
}

/** After an update or a patch: what changed belongs to the manager from now on. */
export function afterUpdate(
  managers: Managers,
  manager: Manager,
  before: ReadonlyMap<Path, Json>,
  after: ReadonlyMap<Path, Json>,
): Managers {
  const changed = [...after].filter(([path, value]) => !before.has(path) || !same(value, before.get(path)));
  const touched = changed.map(([path]) => path);
  const gone = [...before.keys()].filter((path) => !after.has(path));
  if (touched.length + gone.length === 0) return managers;
  const own = managers.find((one) => isSame(one, manager))?.fields ?? new Set<Path>();
  const fields = own.union(new Set(touched)).difference(new Set(gone));
  return withManager(managers, { ...manager, fields }, [...touched, ...gone]);
}

/** Whether they own the same; when they wrote it last does not count. */
export const sameManagers = (a: Managers, b: Managers): boolean =>
  a.length === b.length &&
  a.every((one) => b.some((other) => isSame(one, other) && sameFields(one.fields, other.fields)));

const sameFields = (a: FieldSet, b: FieldSet): boolean => a.size === b.size && a.isSubsetOf(b);

/** Asked for with every read of the object, and changed only by its writes: an entry is written out once. */
const written = new WeakMap<Manager, Json>();

export const toManagedFields = (managers: Managers): Json =>
  managers.map((manager) => {
    const entry = written.get(manager) ?? toEntry(manager);
    written.set(manager, entry);
    return entry;
  });

const toEntry = ({ name, operation, subresource, apiVersion, time, fields }: Manager): Json => ({
  manager: name,
  operation,
  apiVersion,
  time,
  fieldsType: 'FieldsV1',
  fieldsV1: toFieldsV1(fields),
  ...(subresource ? { subresource } : {}),
});

/** managedFields as a client wrote them (kubectl moves its client-side ownership to server-side apply this way). */
export const fromManagedFields = (entries: Json | undefined): Managers =>
  (Array.isArray(entries) ? entries : []).filter(isObject).map((entry) => ({
    name: textAt(entry, 'manager') ?? 'unknown',
    operation: entry.operation === 'Apply' ? 'Apply' : 'Update',
    subresource: textAt(entry, 'subresource') ?? '',
    apiVersion: textAt(entry, 'apiVersion') ?? '',
    time: textAt(entry, 'time') ?? '',
    fields: isObject(entry.fieldsV1) ? fromFieldsV1(entry.fieldsV1) : new Set(),
  }));
