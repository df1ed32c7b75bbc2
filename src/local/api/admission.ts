/**
 * What the API server does to an object before it stores it: defaults and checks. Custom resources by their schema; of the built-in
 * kinds only what the operator and its users can notice (docs/reference/embedded-cluster.md lists the limits).
 */
import { quantity } from '../../desired/quantity.ts';
import { at, isObject, type Json, type JsonObject, same, textAt } from './json.ts';
import { apiVersionOf, customKinds, type Kind } from './kinds.ts';
import { applyDefaults, prune, validate } from './schema.ts';
import { type Fault, invalid, StatusError } from './status-error.ts';

/** Changes `object` in place. Throws Invalid or BadRequest. Returns the fields that were dropped. */
export function admit(kind: Kind, object: JsonObject, before: JsonObject | undefined): readonly string[] {
  const name = textAt(object, 'metadata', 'name') ?? '';
  const faults = [
    ...metadataFaults(kind, object),
    ...(kind.schema ? [] : builtInFaults(kind, object, before)),
  ];
  if (faults.length > 0) throw invalid(kind.kind, kind.group, name, faults);
  if (!kind.schema) {
    builtInDefaults(kind, object, before);
    return [];
  }
  const dropped = prune(kind.schema, object);
  applyDefaults(kind.schema, object);
  const wrong = validate(kind.schema, object, before);
  if (wrong.length > 0) throw invalid(kind.kind, kind.group, name, wrong);
  return dropped;
}

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

function metadataFaults(kind: Kind, object: JsonObject): Fault[] {
  const name = textAt(object, 'metadata', 'name') ?? '';
  const faults: Fault[] = [];
  const bad = (field: string, message: string) =>
    faults.push({ field, message, reason: 'FieldValueInvalid' });
  const shown = JSON.stringify(name);
  if (kind.kind === 'Service' && (!LABEL.test(name) || name.length > 63)) {
    bad(
      'metadata.name',
      `Invalid value: ${shown}: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character`,
    );
  } else if (!SUBDOMAIN.test(name) || name.length > 253) {
    bad(
      'metadata.name',
      `Invalid value: ${shown}: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character`,
    );
  }
  const labels = at(object, 'metadata', 'labels');
  for (const [key, value] of Object.entries(isObject(labels) ? labels : {})) {
    if (typeof value !== 'string' || value.length > 63 || !LABEL_VALUE.test(value)) {
      bad(
        'metadata.labels',
        `Invalid value: ${JSON.stringify(value)}: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.' (key ${key})`,
      );
    }
  }
  return faults;
}

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

function builtInFaults({ kind }: Kind, object: JsonObject, before: JsonObject | undefined): Fault[] {
  const required = (field: string): Fault[] =>
    at(object, ...field.split('.')) === undefined
      ? [{ field, message: 'Required value', reason: 'FieldValueRequired' }]
      : [];
  switch (kind) {
    case 'StatefulSet': {
      const frozen = (spec: Json | undefined) =>
        Object.fromEntries(
          Object.entries(isObject(spec) ? spec : {}).filter(([key]) => !MUTABLE.includes(key)),
        );
      const changed =
        before &&
        !same(withoutDefaults(frozen(at(object, 'spec'))), withoutDefaults(frozen(at(before, 'spec'))));
      return [
        ...required('spec.selector'),
        ...required('spec.template'),
        ...(changed
          ? [
              {
                field: 'spec',
                reason: 'FieldValueForbidden' as const,
                message: `Forbidden: updates to statefulset spec for fields other than ${MUTABLE.slice(0, -1)
                  .map((one) => `'${one}'`)
                  .join(', ')} and 'minReadySeconds' are forbidden`,
              },
            ]
          : []),
      ];
    }
    case 'PersistentVolumeClaim': {
      const size = (of: JsonObject | undefined) =>
        quantity(textAt(of, 'spec', 'resources', 'requests', 'storage') ?? '') ?? 0;
      return [
        ...required('spec.accessModes'),
        ...(before && size(object) < size(before)
          ? [
              {
                field: 'spec.resources.requests.storage',
                reason: 'FieldValueForbidden' as const,
                message: 'Forbidden: field can not be less than status.capacity',
              },
            ]
          : []),
      ];
    }
    case 'Service':
      return required('spec.ports');
    default:
      return [];
  }
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

function builtInDefaults({ kind, group }: Kind, object: JsonObject, before: JsonObject | undefined): void {
  if (kindHasSpec(kind)) object.spec ??= {};
  const spec = isObject(object.spec) ? object.spec : undefined;
  switch (kind) {
    case 'Secret': {
      const plain = object.stringData;
      const encoded = Object.entries(isObject(plain) ? plain : {}).map(([key, value]) => [
        key,
        Buffer.from(String(value)).toString('base64'),
      ]);
      if (encoded.length > 0)
        object.data = { ...(object.data as JsonObject), ...Object.fromEntries(encoded) };
      delete object.stringData;
      object.type ??= 'Opaque';
      break;
    }
    case 'Service':
      if (spec) {
        spec.type ??= 'ClusterIP';
        spec.sessionAffinity ??= 'None';
        spec.clusterIP ??= at(before, 'spec', 'clusterIP') ?? '10.96.0.1';
      }
      break;
    case 'StatefulSet':
      if (spec) {
        spec.replicas ??= 1;
        spec.podManagementPolicy ??= 'OrderedReady';
        spec.updateStrategy ??= { type: 'RollingUpdate' };
        spec.revisionHistoryLimit ??= 10;
        spec.persistentVolumeClaimRetentionPolicy ??= { whenDeleted: 'Retain', whenScaled: 'Retain' };
        object.status ??= { replicas: 0 };
      }
      break;
    case 'Pod':
      object.status ??= { phase: 'Pending' };
      break;
    case 'PersistentVolumeClaim':
      if (spec) spec.volumeMode ??= 'Filesystem';
      object.status ??= { phase: 'Pending' };
      break;
    case 'Namespace':
      object.status ??= { phase: 'Active' };
      break;
    case 'CustomResourceDefinition':
      object.status = establishedStatus(object);
      break;
    case 'Event':
      if (group === 'events.k8s.io') checkEvent(object);
      break;
  }
}

const kindHasSpec = (kind: string): boolean =>
  [
    'Service',
    'StatefulSet',
    'Pod',
    'PersistentVolumeClaim',
    'PodDisruptionBudget',
    'Job',
    'CronJob',
  ].includes(kind);

function establishedStatus(crd: JsonObject): Json {
  const kinds = customKinds(crd);
  if (kinds.length === 0) throw new StatusError('Invalid', 'spec.versions must hold a served version');
  const condition = (type: string, reason: string) => ({
    type,
    status: 'True',
    reason,
    message: '',
    lastTransitionTime: '1970-01-01T00:00:00Z',
  });
  return {
    acceptedNames: at(crd, 'spec', 'names') ?? {},
    conditions: [condition('NamesAccepted', 'NoConflicts'), condition('Established', 'InitialNamesAccepted')],
    storedVersions: kinds.map((kind) => kind.version),
  };
}

/** measured: microseconds are required, and so are who reports what. */
function checkEvent(event: JsonObject): void {
  const time = textAt(event, 'eventTime') ?? '';
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(time)) {
    throw new StatusError(
      'BadRequest',
      `Event in version "v1" cannot be handled as a Event: parsing time ${JSON.stringify(time)} as "2006-01-02T15:04:05.000000Z07:00"`,
    );
  }
  const faults = ['reportingController', 'reportingInstance', 'action', 'reason']
    .filter((field) => !textAt(event, field))
    .map((field): Fault => ({ field, message: 'Required value', reason: 'FieldValueRequired' }));
  const note = textAt(event, 'note') ?? '';
  if (note.length > 1_024)
    faults.push({
      field: 'note',
      message: 'Invalid value: can have at most 1024 characters',
      reason: 'FieldValueInvalid',
    });
  if (faults.length > 0)
    throw invalid('Event', 'events.k8s.io', textAt(event, 'metadata', 'name') ?? '', faults);
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
