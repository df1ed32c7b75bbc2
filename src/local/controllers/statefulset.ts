/**
 * StatefulSet → pods and claims, as far as this operator uses it: Parallel, OnDelete, retention policies, revisions. Level-triggered
 * over the in-process API.
 */
import type { Api } from '../api/api.ts';
import { at, type JsonObject, same, textAt } from '../api/json.ts';
import type { Kind } from '../api/kinds.ts';
import { isLeaving, isReady, nameOf, namespaceOf, objectsAt, timestamp, uidOf } from './objects.ts';
import { claimsFor, podFor, revisionOf, revisionOfPod, withOwners } from './statefulset-forms.ts';
import { Work } from './work.ts';

const MANAGER = { manager: 'kube-controller-manager' };

export class StatefulSetController {
  readonly #api: Api;
  readonly #clock: () => Date;
  readonly #work = new Work((key) => this.#sync(key));
  /** Sets that a quota holds back: looked at again when there may be room. */
  readonly #held = new Set<string>();
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
    api.onChange(({ type, stored: { resource, namespace, name, object } }) => {
      if (resource === 'statefulsets.apps') this.#work.add(`${namespace}/${name}`);
      if (resource === 'pods.') {
        const owner = objectsAt(object, 'metadata', 'ownerReferences').find(
          (one) => one.kind === 'StatefulSet',
        );
        if (owner) this.#work.add(`${namespace}/${textAt(owner, 'name') ?? ''}`);
      }
      if (resource === 'resourcequotas.' || (resource === 'pods.' && type === 'DELETED')) {
        for (const key of this.#held) this.#work.add(key);
      }
    });
    for (const set of api.list(this.#kinds.set)) this.#work.add(`${namespaceOf(set)}/${nameOf(set)}`);
  }

  /** True when anything was looked at. */
  step(): boolean {
    return this.#work.drain();
  }

  #sync(key: string): void {
    this.#held.delete(key);
    const [namespace = '', name = ''] = key.split('/');
    const set = this.#api.find(this.#kinds.set, namespace, name);
    if (!set || isLeaving(set)) return;
    const replicas = Number(at(set, 'spec', 'replicas') ?? 0);
    const pods = this.#podsOf(set);
    for (const ordinal of new Set([...pods.keys(), ...Array(replicas).keys()])) {
      this.#keepClaims(set, ordinal, pods.get(ordinal), ordinal < replicas);
    }
    for (const [ordinal, pod] of pods) {
      if (ordinal >= replicas && !isLeaving(pod)) this.#api.delete(this.#kinds.pod, namespace, nameOf(pod));
    }
    for (let ordinal = 0; ordinal < replicas; ordinal += 1) {
      if (!pods.has(ordinal) && !this.#ensurePod(set, ordinal)) {
        this.#held.add(key);
        break;
      }
    }
    this.#updateStatus(set);
  }

  /** By ordinal. */
  #podsOf(set: JsonObject): Map<number, JsonObject> {
    const prefix = `${nameOf(set)}-`;
    const pods = this.#api.store.ownedBy(uidOf(set)).filter(({ resource }) => resource === 'pods.');
    return new Map(
      pods
        .map(({ name, object }) => [Number(name.slice(prefix.length)), object] as const)
        .filter(([ordinal]) => Number.isInteger(ordinal))
        .sort(([a], [b]) => a - b),
    );
  }

  #keepClaims(set: JsonObject, ordinal: number, pod: JsonObject | undefined, wanted: boolean): void {
    const namespace = namespaceOf(set);
    for (const claim of claimsFor(set, ordinal)) {
      const live = this.#api.find(this.#kinds.claim, namespace, nameOf(claim));
      const owned = withOwners(live ?? claim, set, pod, wanted);
      if (live && owned) this.#api.update(this.#kinds.claim, namespace, nameOf(live), owned, MANAGER);
      if (!live && wanted) this.#api.create(this.#kinds.claim, namespace, owned ?? claim, MANAGER);
    }
  }

  /** False when the pod cannot be made; the reason is then an Event of the StatefulSet. */
  #ensurePod(set: JsonObject, ordinal: number): boolean {
    const pod = podFor(set, ordinal);
    // one of the same name may be somebody else's
    if (this.#api.find(this.#kinds.pod, namespaceOf(set), nameOf(pod))) return true;
    const refusal = this.#quotaExceeded(namespaceOf(set), nameOf(pod));
    if (refusal) {
      this.#warn(set, `create Pod ${nameOf(pod)} in StatefulSet ${nameOf(set)} failed error: ${refusal}`);
      return false;
    }
    this.#api.create(this.#kinds.pod, namespaceOf(set), pod, MANAGER);
    return true;
  }

  /** Quotas on the number of pods are all that is known here. */
  #quotaExceeded(namespace: string, pod: string): string | undefined {
    for (const quota of this.#api.list(this.#kinds.quota, namespace)) {
      for (const resource of ['pods', 'count/pods']) {
        const hard = at(quota, 'spec', 'hard', resource);
        const used = this.#api.list(this.#kinds.pod, namespace).length;
        if (hard === undefined || used < Number(hard)) continue;
        return `pods "${pod}" is forbidden: exceeded quota: ${nameOf(quota)}, requested: ${resource}=1, used: ${resource}=${used}, limited: ${resource}=${String(hard)}`;
      }
    }
    return undefined;
  }

  #warn(set: JsonObject, message: string): void {
    const namespace = namespaceOf(set);
    const now = timestamp(this.#clock());
    const told = this.#api
      .list(this.#kinds.event, namespace)
      .find((one) => one.message === message && textAt(one, 'involvedObject', 'uid') === uidOf(set));
    if (told) {
      const again = { ...told, count: Number(told.count) + 1, lastTimestamp: now };
      this.#api.update(this.#kinds.event, namespace, nameOf(told), again, MANAGER);
      return;
    }
    const event = {
      metadata: { generateName: `${nameOf(set)}.` },
      involvedObject: {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        namespace,
        name: nameOf(set),
        uid: uidOf(set),
      },
      type: 'Warning',
      reason: 'FailedCreate',
      message,
      source: { component: 'statefulset-controller' },
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    };
    this.#api.create(this.#kinds.event, namespace, event, MANAGER);
  }

  #updateStatus(set: JsonObject): void {
    const pods = [...this.#podsOf(set).values()];
    const updateRevision = revisionOf(set);
    // measured: under OnDelete the current revision stays the first one for good
    const currentRevision = textAt(set, 'status', 'currentRevision') ?? updateRevision;
    const ready = pods.filter(isReady).length;
    const status: JsonObject = {
      observedGeneration: at(set, 'metadata', 'generation') ?? 1,
      replicas: pods.length,
      readyReplicas: ready,
      availableReplicas: ready,
      currentReplicas: pods.filter((pod) => revisionOfPod(pod) === currentRevision).length,
      updatedReplicas: pods.filter((pod) => revisionOfPod(pod) === updateRevision).length,
      currentRevision,
      updateRevision,
      collisionCount: 0,
    };
    if (same(set.status, status)) return;
    const options = { ...MANAGER, subresource: 'status' } as const;
    this.#api.update(this.#kinds.set, namespaceOf(set), nameOf(set), { ...set, status }, options);
  }
}
