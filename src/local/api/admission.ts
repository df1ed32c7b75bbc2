/** What the API server does to an object before it stores it: checks and defaults, custom resources by their schema. */
import { builtInFaults } from './built-in.ts';
import { builtInDefaults } from './defaults.ts';
import { copy, type JsonObject, textAt } from './json.ts';
import { apiVersionOf, type Kind } from './kinds.ts';
import { metadataFaults, pruneMetadata } from './metadata.ts';
import { applyDefaults, prune } from './schema.ts';
import { invalid, StatusError } from './status-error.ts';
import { validate } from './validate.ts';

/** Changes `object` in place and tells which fields it dropped. Throws Invalid or BadRequest. */
export function admit(
  kind: Kind,
  object: JsonObject,
  before: JsonObject | undefined,
  onDropped: (fields: readonly string[]) => void,
): void {
  const { schema } = kind;
  const name = textAt(object, 'metadata', 'name') ?? '';
  const dropped = [...pruneMetadata(kind, object), ...(schema ? prune(schema, object) : [])];
  if (dropped.length > 0) onDropped(dropped);
  if (schema) applyDefaults(schema, object);
  const faults = [
    ...metadataFaults(kind, object),
    ...(schema ? validate(schema, object, before) : builtInFaults(kind, object, before)),
  ];
  if (faults.length > 0) throw invalid(kind.kind, kind.group, name, faults);
  if (!schema) builtInDefaults(kind, object, before);
}

/** measured: an apply that names an unknown field is a 500, not a 422. */
export function refuseUnknown(kind: Kind, intent: JsonObject): void {
  const [unknown] = kind.schema ? prune(kind.schema, copy(intent)) : [];
  if (unknown === undefined) return;
  const who = `${textAt(intent, 'metadata', 'namespace') ?? ''}/${textAt(intent, 'metadata', 'name') ?? ''}`;
  throw new StatusError(
    'Unknown',
    `failed to create typed patch object (${who}; ${apiVersionOf(kind)}, Kind=${kind.kind}): .${unknown}: field not declared in schema`,
  );
}

/** Throws BadRequest when the body is another kind than the address says. */
export function checkType(kind: Kind, object: JsonObject): void {
  const wanted = apiVersionOf(kind);
  if (
    (object.kind !== undefined && object.kind !== kind.kind) ||
    (object.apiVersion !== undefined && object.apiVersion !== wanted)
  ) {
    throw new StatusError(
      'BadRequest',
      `the object provided (${String(object.apiVersion)}, ${String(object.kind)}) does not match the resource (${wanted}, ${kind.kind})`,
    );
  }
}
