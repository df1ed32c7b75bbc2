/**
 * StatefulSet → pods and claims, as far as this operator uses it: Parallel, OnDelete, retention policies, revisions. Level-triggered
 * over the in-process API.
 */
import { digest } from '../../desired/digest.ts';
import type { Api } from '../api/api.ts';
import { at, copy, isObject, type Json, type JsonObject, same, textAt } from '../api/json.ts';
import type { Kind } from '../api/kinds.ts';
import { StatusError } from '../api/status-error.ts';
import { Work } from './work.ts';

const MANAGER = { manager: 'kube-controller-manager' };

export class StatefulSetController {
  readonly #api: Api;
  readonly #clock: () => Date;
  readonly #work = new Work((key) => this.#sync(key));
  readonly #kinds: {
    readonly set: Kind;
    readonly pod: Kind;
    readonly claim: Kind;
    readonly event: Kind;
    readonly quota: Kind;
  };

  constructor(api: Api, clock: () => Date) {
    this.#api = api;
    this.#clock = clock;
    this.#kinds = {
      set: api.kindOf('apps/v1', 'StatefulSet'),
      pod: api.kindOf('v1', 'Pod'),
      claim: api.kindOf('v1', 'PersistentVolumeClaim'),
      event: api.kindOf('v1', 'Event'),
      quota: api.kindOf('v1', 'ResourceQuota'),
    };
    api.onChange(({ stored }) => {
      if (stored.resource === 'statefulsets.apps') this.#work.add(`${stored.namespace}/${stored.name}`);
      const owner = stored.resource === 'pods.' ? ownerSet(stored.object) : undefined;
      if (owner) this.#work.add(`${stored.namespace}/${owner}`);
      if (stored.resource === 'resourcequotas.') this.addAll();
    });
    this.addAll();
  }

  addAll(): void {
    for (const set of this.#api.list(this.#kinds.set)) this.#work.add(keyOf(set));
  }

  /** True when anything was looked at. */
  step(): boolean {
    return this.#work.drain();
  }

  #sync(key: string): void {
    const [namespace = '', name = ''] = key.split('/');
    const set = this.#api.find(this.#kinds.set, namespace, name);
    if (!set || at(set, 'metadata', 'deletionTimestamp')) return;
    const replicas = Number(at(set, 'spec', 'replicas') ?? 0);
    const pods = this.#podsOf(set);
    for (let ordinal = 0; ordinal < replicas; ordinal += 1) {
      this.#ensureClaims(set, ordinal);
      if (!pods.has(ordinal) && !this.#ensurePod(set, ordinal)) break;
    }
    for (const [ordinal, pod] of pods) {
      if (ordinal >= replicas && !at(pod, 'metadata', 'deletionTimestamp')) {
        this.#api.delete(this.#kinds.pod, namespace, textAt(pod, 'metadata', 'name') ?? '');
      }
    }
    this.#updateStatus(namespace, name);
  }

  #podsOf(set: JsonObject): Map<number, JsonObject> {
    const { uid, name } = set.metadata as JsonObject;
    const prefix = `${String(name)}-`;
    const own = this.#api.store.ownedBy(String(uid)).filter(({ resource }) => resource === 'pods.');
    return new Map(
      own
        .map(
          ({ object }) =>
            [Number((textAt(object, 'metadata', 'name') ?? '').slice(prefix.length)), object] as const,
        )
        .filter(([ordinal]) => Number.isInteger(ordinal))
        .sort(([a], [b]) => a - b),
    );
  }

  #ensureClaims(set: JsonObject, ordinal: number): void {
    const templates = at(set, 'spec', 'volumeClaimTemplates');
    const { namespace, name } = set.metadata as JsonObject;
    for (const template of (Array.isArray(templates) ? templates : []).filter(isObject)) {
      const claim = `${textAt(template, 'metadata', 'name') ?? ''}-${String(name)}-${ordinal}`;
      if (this.#api.find(this.#kinds.claim, String(namespace), claim)) continue;
      const labels = {
        ...(at(template, 'metadata', 'labels') as JsonObject | undefined),
        ...selectorOf(set),
      };
      const kept = textAt(set, 'spec', 'persistentVolumeClaimRetentionPolicy', 'whenDeleted') !== 'Delete';
      this.#api.create(
        this.#kinds.claim,
        String(namespace),
        {
          metadata: { name: claim, labels, ...(kept ? {} : { ownerReferences: [ownerOf(set, false)] }) },
          spec: copy(template.spec ?? {}),
        },
        MANAGER,
      );
    }
  }

  /** False when the pod cannot be made; the reason is then an Event of the StatefulSet. */
  #ensurePod(set: JsonObject, ordinal: number): boolean {
    const { namespace, name } = set.metadata as JsonObject;
    const pod = `${String(name)}-${ordinal}`;
    // one of the same name may still be on its way out, or be somebody else's
    if (this.#api.find(this.#kinds.pod, String(namespace), pod)) return true;
    const refusal = this.#quotaExceeded(String(namespace), pod);
    if (refusal) {
      this.#warn(
        set,
        'FailedCreate',
        `create Pod ${pod} in StatefulSet ${String(name)} failed error: ${refusal}`,
      );
      return false;
    }
    this.#api.create(this.#kinds.pod, String(namespace), podOf(set, ordinal), MANAGER);
    return true;
  }

  #quotaExceeded(namespace: string, pod: string): string | undefined {
    for (const quota of this.#api.list(this.#kinds.quota, namespace)) {
      const hard = at(quota, 'spec', 'hard', 'pods') ?? at(quota, 'spec', 'hard', 'count/pods');
      const used = this.#api.list(this.#kinds.pod, namespace).length;
      if (hard !== undefined && used >= Number(hard)) {
        const name = textAt(quota, 'metadata', 'name') ?? '';
        return `pods "${pod}" is forbidden: exceeded quota: ${name}, requested: pods=1, used: pods=${used}, limited: pods=${String(hard)}`;
      }
    }
    return undefined;
  }

  #warn(set: JsonObject, reason: string, message: string): void {
    const { namespace, name, uid } = set.metadata as JsonObject;
    const now = this.#clock()
      .toISOString()
      .replace(/\.\d+Z$/, 'Z');
    const same = this.#api
      .list(this.#kinds.event, String(namespace))
      .some(
        (event) => textAt(event, 'message') === message && textAt(event, 'involvedObject', 'uid') === uid,
      );
    if (same) return;
    this.#api.create(
      this.#kinds.event,
      String(namespace),
      {
        metadata: { generateName: `${String(name)}.` },
        involvedObject: {
          apiVersion: 'apps/v1',
          kind: 'StatefulSet',
          namespace: String(namespace),
          name: String(name),
          uid: String(uid),
        },
        type: 'Warning',
        reason,
        message,
        source: { component: 'statefulset-controller' },
        firstTimestamp: now,
        lastTimestamp: now,
        count: 1,
      },
      MANAGER,
    );
  }

  #updateStatus(namespace: string, name: string): void {
    const set = this.#api.find(this.#kinds.set, namespace, name);
    if (!set) return;
    const pods = [...this.#podsOf(set).values()];
    const update = revisionOf(set);
    const isReady = (pod: JsonObject) => conditionOf(pod, 'Ready') === 'True';
    const current = textAt(set, 'status', 'currentRevision') ?? update;
    const updated = pods.filter(
      (pod) => textAt(pod, 'metadata', 'labels', 'controller-revision-hash') === update,
    ).length;
    const status: JsonObject = {
      observedGeneration: at(set, 'metadata', 'generation') ?? 1,
      replicas: pods.length,
      readyReplicas: pods.filter(isReady).length,
      availableReplicas: pods.filter(isReady).length,
      currentReplicas: pods.length - updated,
      updatedReplicas: updated,
      currentRevision: updated === pods.length ? update : current,
      updateRevision: update,
      collisionCount: 0,
    };
    if (!same(set.status, status)) {
      this.#api.update(
        this.#kinds.set,
        namespace,
        name,
        { ...set, status },
        { ...MANAGER, subresource: 'status' },
      );
    }
  }
}

const keyOf = (object: JsonObject): string => {
  const { namespace, name } = object.metadata as JsonObject;
  return `${String(namespace)}/${String(name)}`;
};

const ownerSet = (pod: JsonObject): string | undefined => {
  const owners = at(pod, 'metadata', 'ownerReferences');
  const owner = (Array.isArray(owners) ? owners : []).find((one) => textAt(one, 'kind') === 'StatefulSet');
  return textAt(owner, 'name');
};

const selectorOf = (set: JsonObject): JsonObject =>
  (at(set, 'spec', 'selector', 'matchLabels') as JsonObject | undefined) ?? {};

const ownerOf = (set: JsonObject, controller: boolean): Json => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  name: textAt(set, 'metadata', 'name') ?? '',
  uid: textAt(set, 'metadata', 'uid') ?? '',
  ...(controller ? { controller: true, blockOwnerDeletion: true } : {}),
});

const revisionOf = (set: JsonObject): string =>
  `${textAt(set, 'metadata', 'name') ?? ''}-${digest(at(set, 'spec', 'template')).slice(0, 10)}`;

export const conditionOf = (object: JsonObject, type: string): string | undefined => {
  const conditions = at(object, 'status', 'conditions');
  return textAt(
    (Array.isArray(conditions) ? conditions : []).find((one) => textAt(one, 'type') === type),
    'status',
  );
};

function podOf(set: JsonObject, ordinal: number): JsonObject {
  const { namespace, name } = set.metadata as JsonObject;
  const template = copy((at(set, 'spec', 'template') as JsonObject | undefined) ?? {});
  const spec = (template.spec as JsonObject | undefined) ?? {};
  const pod = `${String(name)}-${ordinal}`;
  const templates = at(set, 'spec', 'volumeClaimTemplates');
  const claims = (Array.isArray(templates) ? templates : []).map(
    (claim) => textAt(claim, 'metadata', 'name') ?? '',
  );
  const volumes = Array.isArray(spec.volumes) ? spec.volumes : [];
  if (!namespace) throw new StatusError('BadRequest', 'a StatefulSet has a namespace');
  return {
    metadata: {
      name: pod,
      labels: {
        ...(at(template, 'metadata', 'labels') as JsonObject | undefined),
        'controller-revision-hash': revisionOf(set),
        'statefulset.kubernetes.io/pod-name': pod,
        'apps.kubernetes.io/pod-index': `${ordinal}`,
      },
      ...(at(template, 'metadata', 'annotations')
        ? { annotations: at(template, 'metadata', 'annotations') as Json }
        : {}),
      ownerReferences: [ownerOf(set, true)],
    },
    spec: {
      ...spec,
      hostname: pod,
      subdomain: textAt(set, 'spec', 'serviceName') ?? '',
      volumes: [
        ...volumes,
        ...claims.map((claim) => ({ name: claim, persistentVolumeClaim: { claimName: `${claim}-${pod}` } })),
      ],
    },
  };
}
