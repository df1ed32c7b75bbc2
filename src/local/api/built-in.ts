/**
 * Checks of the built-in kinds: only what the operator and its users can notice (docs/reference/embedded-cluster.md lists the limits).
 */
import { quantity } from '../../desired/quantity.ts';
import { at, isObject, type Json, type JsonObject, same, textAt } from './json.ts';
import type { Kind } from './kinds.ts';
import { type Fault, StatusError } from './status-error.ts';

/** Throws BadRequest for what cannot even be read. */
export function builtInFaults(kind: Kind, object: JsonObject, before: JsonObject | undefined): Fault[] {
  switch (kind.kind) {
    case 'StatefulSet':
      return [...required(object, 'spec.selector', 'spec.template'), ...statefulSetChanges(object, before)];
    case 'PersistentVolumeClaim':
      return [...required(object, 'spec.accessModes'), ...claimChanges(object, before)];
    case 'Service':
      return required(object, 'spec.ports');
    case 'Event':
      return kind.group === 'events.k8s.io' ? eventFaults(object, before) : [];
    default:
      return [];
  }
}

const required = (object: JsonObject, ...fields: readonly string[]): Fault[] =>
  fields
    .filter((field) => [undefined, ''].includes(at(object, ...field.split('.')) as undefined | ''))
    .map((field) => ({ field, message: 'Required value', reason: 'FieldValueRequired' }));

/** Fields of a live StatefulSet that may change (Kubernetes API reference). */
const MUTABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

function statefulSetChanges(object: JsonObject, before: JsonObject | undefined): Fault[] {
  const frozen = ({ spec }: JsonObject) =>
    withoutDefaults(
      Object.fromEntries(
        Object.entries(isObject(spec) ? spec : {}).filter(([key]) => !MUTABLE.includes(key)),
      ),
    );
  if (!before || same(frozen(object), frozen(before))) return [];
  const names = MUTABLE.map((one) => `'${one}'`);
  const message = `Forbidden: updates to statefulset spec for fields other than ${names.slice(0, -1).join(', ')} and ${names.at(-1)} are forbidden`;
  return [{ field: 'spec', reason: 'FieldValueForbidden', message }];
}

/** Claim templates get defaults when they are stored; those must not look like a change. */
const withoutDefaults = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(withoutDefaults);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'status' && key !== 'volumeMode' && key !== 'creationTimestamp')
      .map(([key, child]) => [key, withoutDefaults(child)]),
  );
};

function claimChanges(object: JsonObject, before: JsonObject | undefined): Fault[] {
  const size = (of: JsonObject) =>
    quantity(textAt(of, 'spec', 'resources', 'requests', 'storage') ?? '') ?? 0;
  if (!before || size(object) >= size(before)) return [];
  const message = 'Forbidden: field can not be less than status.capacity';
  return [{ field: 'spec.resources.requests.storage', reason: 'FieldValueForbidden', message }];
}

const MICROSECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const LONGEST_NOTE = 1_024;

/** measured: microseconds are required, so is who reports what, and of an Event that is there only the series may change. */
function eventFaults(event: JsonObject, before: JsonObject | undefined): Fault[] {
  const time = textAt(event, 'eventTime') ?? '';
  if (!MICROSECONDS.test(time)) {
    throw new StatusError(
      'BadRequest',
      `Event in version "v1" cannot be handled as a Event: parsing time ${JSON.stringify(time)} as "2006-01-02T15:04:05.000000Z07:00"`,
    );
  }
  const { note = '' } = event;
  const long = String(note).length > LONGEST_NOTE;
  const changed = ['note', 'reason', 'action', 'type', 'regarding', 'eventTime'].filter(
    (field) => before && !same(event[field], before[field]),
  );
  const faulty = (field: string, message: string): Fault => ({
    field,
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${message}`,
  });
  return [
    ...required(event, 'reportingController', 'reportingInstance', 'action', 'reason'),
    ...(long ? [faulty('note', `can have at most ${LONGEST_NOTE} characters`)] : []),
    ...changed.map((field) => faulty(field, `${JSON.stringify(event[field])}: field is immutable`)),
  ];
}
