/** Names, labels and annotations: what every object has to get right, in Kubernetes' words. */
import { at, isObject, type JsonObject, metadataOf } from './json.ts';
import type { Kind } from './kinds.ts';
import { type Fault, StatusError } from './status-error.ts';

const FIELDS: ReadonlySet<string> = new Set([
  'annotations',
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'finalizers',
  'generateName',
  'generation',
  'labels',
  'managedFields',
  'name',
  'namespace',
  'ownerReferences',
  'resourceVersion',
  'selfLink',
  'uid',
]);

/** Removes what ObjectMeta does not have, in place; returns the paths. Throws BadRequest for labels and annotations that are no texts. */
export function pruneMetadata(kind: Kind, object: JsonObject): string[] {
  const metadata = metadataOf(object);
  for (const field of ['labels', 'annotations']) {
    const texts = metadata[field];
    const wrong = Object.values(isObject(texts) ? texts : {}).find((value) => typeof value !== 'string');
    if (wrong !== undefined) {
      throw new StatusError(
        'BadRequest',
        `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: json: cannot unmarshal ${typeof wrong} into Go struct field ObjectMeta.metadata.${field} of type string`,
      );
    }
  }
  const unknown = Object.keys(metadata).filter((key) => !FIELDS.has(key));
  for (const key of unknown) delete metadata[key];
  return unknown.map((key) => `metadata.${key}`);
}

interface Form {
  readonly pattern: RegExp;
  readonly longest: number;
  readonly rule: string;
}

const SUBDOMAIN: Form = {
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  longest: 253,
  rule: "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
};
const LABEL: Form = {
  pattern: /^[a-z]([-a-z0-9]*[a-z0-9])?$/,
  longest: 63,
  rule: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
};
const LABEL_VALUE: Form = {
  pattern: /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/,
  longest: 63,
  rule: "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
};

export function metadataFaults(kind: Kind, object: JsonObject): Fault[] {
  const labels = at(object, 'metadata', 'labels');
  return [
    ...faultsOf('metadata.name', metadataOf(object).name, kind.kind === 'Service' ? LABEL : SUBDOMAIN),
    ...Object.values(isObject(labels) ? labels : {}).flatMap((value) =>
      faultsOf('metadata.labels', value, LABEL_VALUE),
    ),
  ];
}

function faultsOf(field: string, value: unknown, { pattern, longest, rule }: Form): Fault[] {
  const text = String(value ?? '');
  const why = [
    ...(text.length > longest ? [`must be no more than ${longest} characters`] : []),
    ...(pattern.test(text) ? [] : [rule]),
  ];
  return why.map((message) => ({
    field,
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(text)}: ${message}`,
  }));
}
