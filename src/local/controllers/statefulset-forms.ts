/** The objects that a StatefulSet makes, as the real controller makes them. */
import { digest } from '../../desired/digest.ts';
import { at, copy, isObject, type Json, type JsonObject, same, textAt } from '../api/json.ts';
import { nameOf, objectsAt, uidOf } from './objects.ts';

/** Name of the revision that the set's template is. */
export const revisionOf = (set: JsonObject): string =>
  `${nameOf(set)}-${digest(at(set, 'spec', 'template')).slice(0, 10)}`;

export const revisionOfPod = (pod: JsonObject): string | undefined =>
  textAt(pod, 'metadata', 'labels', 'controller-revision-hash');

export function podFor(set: JsonObject, ordinal: number): JsonObject {
  const name = `${nameOf(set)}-${ordinal}`;
  const template = at(set, 'spec', 'template');
  const spec = objectAt(template, 'spec');
  const claims = objectsAt(set, 'spec', 'volumeClaimTemplates').map(nameOf);
  const others = objectsAt(spec, 'volumes').filter(
    (volume) => !claims.includes(textAt(volume, 'name') ?? ''),
  );
  return {
    metadata: {
      name,
      generateName: `${nameOf(set)}-`,
      labels: {
        ...objectAt(template, 'metadata', 'labels'),
        'controller-revision-hash': revisionOf(set),
        'statefulset.kubernetes.io/pod-name': name,
        'apps.kubernetes.io/pod-index': `${ordinal}`,
      },
      annotations: objectAt(template, 'metadata', 'annotations'),
      ownerReferences: [
        { ...reference('apps/v1', 'StatefulSet', set), controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: {
      ...spec,
      hostname: name,
      subdomain: textAt(set, 'spec', 'serviceName') ?? '',
      volumes: [
        ...claims.map((claim) => ({ name: claim, persistentVolumeClaim: { claimName: `${claim}-${name}` } })),
        ...others,
      ],
    },
  };
}

/** One for each template. */
export const claimsFor = (set: JsonObject, ordinal: number): JsonObject[] =>
  objectsAt(set, 'spec', 'volumeClaimTemplates').map((template) => ({
    metadata: {
      name: `${nameOf(template)}-${nameOf(set)}-${ordinal}`,
      labels: {
        ...objectAt(template, 'metadata', 'labels'),
        ...objectAt(set, 'spec', 'selector', 'matchLabels'),
      },
    },
    spec: objectAt(template, 'spec'),
  }));

/**
 * The claim with the owners that the retention policy asks for, so that garbage collection deletes it with its set (whenDeleted) or,
 * when its ordinal is no longer wanted, with its pod (whenScaled). Undefined when it has them.
 */
export function withOwners(
  claim: JsonObject,
  set: JsonObject,
  pod: JsonObject | undefined,
  wanted: boolean,
): JsonObject | undefined {
  const policy = objectAt(set, 'spec', 'persistentVolumeClaimRetentionPolicy');
  const own = new Set([uidOf(set), pod && uidOf(pod)]);
  const goesWithPod = !wanted && policy.whenScaled === 'Delete';
  const owners = [
    ...objectsAt(claim, 'metadata', 'ownerReferences').filter((owner) => !own.has(textAt(owner, 'uid'))),
    ...(goesWithPod && pod ? [reference('v1', 'Pod', pod)] : []),
    ...(!goesWithPod && policy.whenDeleted === 'Delete' ? [reference('apps/v1', 'StatefulSet', set)] : []),
  ];
  if (same(owners, objectsAt(claim, 'metadata', 'ownerReferences'))) return undefined;
  return { ...claim, metadata: { ...objectAt(claim, 'metadata'), ownerReferences: owners } };
}

const reference = (apiVersion: string, kind: string, owner: JsonObject): JsonObject => ({
  apiVersion,
  kind,
  name: nameOf(owner),
  uid: uidOf(owner),
});

/** A copy; empty where there is no object. */
function objectAt(value: Json | undefined, ...path: readonly string[]): JsonObject {
  const found = at(value, ...path);
  return isObject(found) ? copy(found) : {};
}
