/** What a request says about the object that it is meant for, held against the object that is there. */
import { type JsonObject, metadataOf, textAt } from './json.ts';
import type { Kind } from './kinds.ts';
import { conflict, invalid, StatusError } from './status-error.ts';
import type { Stored } from './store.ts';

const MODIFIED =
  'the object has been modified; please apply your changes to the latest version and try again';

/** Kinds that want to be told the version that an update replaces; custom resources do too. */
const CONDITIONAL: ReadonlySet<string> = new Set(['PodDisruptionBudget', 'CustomResourceDefinition']);

/** Throws BadRequest when the body names another object than the address. */
export function checkAddress(
  kind: Kind,
  namespace: string,
  name: string | undefined,
  body: JsonObject,
): void {
  const { namespace: inside = namespace, name: called = name } = metadataOf(body);
  if (name !== undefined && called !== name) {
    const names = `the name of the object (${String(called)}) does not match the name on the URL (${name})`;
    throw new StatusError('BadRequest', names);
  }
  if (kind.namespaced && inside !== '' && inside !== namespace) {
    throw new StatusError(
      'BadRequest',
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
}

/** Throws Conflict, or Invalid where an update must name a version and does not. */
export function checkUpdate(kind: Kind, stored: Stored, body: JsonObject): void {
  const { uid, resourceVersion } = metadataOf(body);
  const live = metadataOf(stored.object);
  if (uid && uid !== live.uid) throw preconditionFailed(kind, stored, 'UID', String(uid), String(live.uid));
  if (resourceVersion && resourceVersion !== live.resourceVersion) throw modified(kind, stored.name);
  if (!resourceVersion && (kind.schema || CONDITIONAL.has(kind.kind))) {
    const fault = {
      field: 'metadata.resourceVersion',
      reason: 'FieldValueInvalid',
      message: 'Invalid value: 0: must be specified for an update',
    } as const;
    throw invalid(kind.plural, kind.group, stored.name, [fault]);
  }
}

/** Throws Invalid for another uid and Conflict for another version: both may be left out. */
export function checkPatch(kind: Kind, stored: Stored, body: JsonObject): void {
  const { uid, resourceVersion } = metadataOf(body);
  const live = metadataOf(stored.object);
  if (uid && uid !== live.uid) {
    const message = `Invalid value: ${JSON.stringify(uid)}: field is immutable`;
    throw invalid(kind.kind, kind.group, stored.name, [
      { field: 'metadata.uid', reason: 'FieldValueInvalid', message },
    ]);
  }
  if (resourceVersion && resourceVersion !== live.resourceVersion) throw modified(kind, stored.name);
}

/** measured: an object that an apply would create is a Conflict when the intent is meant for one that was there. */
export function checkAbsent(kind: Kind, name: string, body: JsonObject): void {
  const { uid, resourceVersion } = metadataOf(body);
  if (uid) {
    const why = `uid mismatch: the provided object specified uid ${String(uid)}, and no existing object was found`;
    throw conflict(kind.plural, kind.group, name, why);
  }
  if (resourceVersion) throw modified(kind, name);
}

/** Throws Conflict. */
export function checkDelete(
  kind: Kind,
  stored: Stored,
  wanted: { readonly uid?: string; readonly resourceVersion?: string },
): void {
  const uid = textAt(stored.object, 'metadata', 'uid');
  const version = textAt(stored.object, 'metadata', 'resourceVersion');
  if (wanted.uid && wanted.uid !== uid) throw preconditionFailed(kind, stored, 'UID', wanted.uid, uid);
  if (wanted.resourceVersion && wanted.resourceVersion !== version)
    throw preconditionFailed(kind, stored, 'ResourceVersion', wanted.resourceVersion, version);
}

const modified = (kind: Kind, name: string): StatusError => conflict(kind.plural, kind.group, name, MODIFIED);

function preconditionFailed(
  kind: Kind,
  stored: Stored,
  what: string,
  wanted: string,
  found: string | undefined,
): StatusError {
  const why = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`;
  return conflict(kind.plural, kind.group, stored.name, why);
}
