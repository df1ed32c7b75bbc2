/** Defaults of the built-in kinds: those that the operator and its users can notice. */
import { at, isObject, type Json, type JsonObject } from './json.ts';
import { customKinds, type Kind } from './kinds.ts';
import { StatusError } from './status-error.ts';

/** Fills `object` in place. Throws BadRequest for what cannot be read. */
export function builtInDefaults({ kind }: Kind, object: JsonObject, before: JsonObject | undefined): void {
  if (kindHasSpec(kind)) object.spec ??= {};
  const spec = isObject(object.spec) ? object.spec : undefined;
  switch (kind) {
    case 'Secret':
      object.type ??= 'Opaque';
      encodeStringData(object);
      break;
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

/** Plain text goes in and base64 comes out. */
function encodeStringData(secret: JsonObject): void {
  const { stringData, data } = secret;
  for (const value of Object.values(isObject(data) ? data : {})) {
    if (typeof value !== 'string' || !BASE64.test(value)) {
      const why = 'Secret in version "v1" cannot be handled as a Secret: illegal base64 data';
      throw new StatusError('BadRequest', why);
    }
  }
  const encoded = Object.entries(isObject(stringData) ? stringData : {}).map(([key, value]) => [
    key,
    Buffer.from(String(value)).toString('base64'),
  ]);
  if (encoded.length > 0) secret.data = { ...(isObject(data) ? data : {}), ...Object.fromEntries(encoded) };
  delete secret.stringData;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

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
