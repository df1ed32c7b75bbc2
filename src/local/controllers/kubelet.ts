/** Pods run: claims are bound, containers start a modelled server, readiness follows it, and a deleted pod ends gracefully. */
import { LABEL, nodesServiceName, podHost } from '../../resource/names.ts';
import type { Api } from '../api/api.ts';
import { at, type JsonObject, same, textAt } from '../api/json.ts';
import type { Kind } from '../api/kinds.ts';
import type { GroupModel } from '../group/model.ts';
import type { Server } from '../group/server.ts';
import { isLeaving, nameOf, namespaceOf, objectsAt, uidOf } from './objects.ts';
import { isOurs, type PodPlace, podStatus, unpullable } from './pod-status.ts';
import { Work } from './work.ts';

const MANAGER = { manager: 'kubelet' };
const STATUS = { ...MANAGER, subresource: 'status' } as const;
/** Storage classes that do not exist, so that it can be seen what happens then. */
const ABSENT_CLASS = /^(bad|missing)/;

export class Kubelet {
  readonly #api: Api;
  readonly #model: GroupModel;
  readonly #clock: () => Date;
  readonly #pod: Kind;
  readonly #claim: Kind;
  readonly #pods = new Work((key) => this.#syncPod(key));
  readonly #claims = new Work((key) => this.#bind(key));
  #addresses: number;

  constructor(api: Api, model: GroupModel, clock: () => Date) {
    this.#api = api;
    this.#model = model;
    this.#clock = clock;
    this.#pod = api.kindOf('v1', 'Pod');
    this.#claim = api.kindOf('v1', 'PersistentVolumeClaim');
    api.nodePresent = true;
    api.onChange(({ type, stored: { resource, namespace, name, object } }) => {
      if (resource === 'pods.') {
        // one that is gone already was not stopped: its node is gone too, or somebody was in a hurry
        if (type === 'DELETED') this.#vanish(namespace, name);
        else this.#pods.add(`${namespace}/${name}`);
      }
      if (resource === 'persistentvolumeclaims.') {
        if (type === 'DELETED') this.#model.removeVolume(uidOf(object));
        else this.#claims.add(`${namespace}/${name}`);
      }
    });
    model.onChange(({ namespace, pod }) => this.#pods.add(`${namespace}/${pod}`));
    const pods = api.list(this.#pod);
    for (const pod of pods) this.#pods.add(`${namespaceOf(pod)}/${nameOf(pod)}`);
    this.#addresses = Math.max(0, ...pods.map((pod) => numberOf(textAt(pod, 'status', 'podIP') ?? '')));
  }

  step(): boolean {
    const bound = this.#claims.drain();
    return this.#pods.drain() || bound;
  }

  #syncPod(key: string): void {
    const [namespace = '', name = ''] = key.split('/');
    const pod = this.#api.find(this.#pod, namespace, name);
    if (!pod) return;
    if (isLeaving(pod)) {
      const server = this.#model.server(namespace, name);
      if (server) this.#model.stop(server);
      this.#api.delete(this.#pod, namespace, name, { gracePeriodSeconds: 0 });
      return;
    }
    if (!isOurs(pod)) return;
    const status = podStatus(pod, this.#placeOf(pod), this.#clock());
    if (!same(pod.status, status)) this.#api.update(this.#pod, namespace, name, { ...pod, status }, STATUS);
  }

  /** Starts what can start. Where a pod is once, it stays. */
  #placeOf(pod: JsonObject): PodPlace {
    const placed = textAt(pod, 'status', 'podIP');
    const hindrance = placed ? undefined : this.#hindranceOf(pod);
    if (hindrance) return { is: 'unschedulable', why: hindrance };
    const address = placed ?? this.#nextAddress();
    if (unpullable(pod)) return { is: 'placed', address, server: undefined };
    const server = this.#model.server(namespaceOf(pod), nameOf(pod)) ?? this.#start(pod, address);
    return { is: 'placed', address, server };
  }

  #hindranceOf(pod: JsonObject): string | undefined {
    if (objectsAt(pod, 'spec', 'schedulingGates').length > 0)
      return 'Scheduling is blocked due to non-empty scheduling gates';
    if (this.#claimsOf(pod).some((claim) => textAt(claim, 'status', 'phase') !== 'Bound'))
      return 'pod has unbound immediate PersistentVolumeClaims';
    const selector = at(pod, 'spec', 'nodeSelector') ?? {};
    return same(selector, {}) || same(selector, { 'kubernetes.io/os': 'linux' })
      ? undefined
      : "node(s) didn't match Pod's node affinity/selector";
  }

  /** Claims that do not exist yet count as empty objects, which are not bound. */
  #claimsOf(pod: JsonObject): JsonObject[] {
    return objectsAt(pod, 'spec', 'volumes').flatMap((volume) => {
      const claim = textAt(volume, 'persistentVolumeClaim', 'claimName');
      return claim ? [this.#api.find(this.#claim, namespaceOf(pod), claim) ?? {}] : [];
    });
  }

  /** Pods of a Mysql get a server; others just run. */
  #start(pod: JsonObject, address: string): Server | undefined {
    const namespace = namespaceOf(pod);
    const cluster = textAt(pod, 'metadata', 'labels', LABEL.cluster);
    if (!cluster || textAt(pod, 'spec', 'subdomain') !== nodesServiceName(cluster)) return undefined;
    const [claim] = this.#claimsOf(pod);
    return this.#model.start({
      namespace,
      cluster,
      pod: nameOf(pod),
      host: podHost({ namespace, name: cluster }, nameOf(pod)),
      address,
      image: textAt(objectsAt(pod, 'spec', 'containers')[0], 'image') ?? '',
      volume: (claim && uidOf(claim)) || uidOf(pod),
    });
  }

  #vanish(namespace: string, name: string): void {
    const server = this.#model.server(namespace, name);
    if (server) this.#model.vanish(server);
  }

  #bind(key: string): void {
    const [namespace = '', name = ''] = key.split('/');
    const claim = this.#api.find(this.#claim, namespace, name);
    if (!claim) return;
    const { accessModes = [], resources } = (claim.spec ?? {}) as JsonObject;
    const status: JsonObject = ABSENT_CLASS.test(textAt(claim, 'spec', 'storageClassName') ?? '')
      ? { phase: 'Pending' }
      : { phase: 'Bound', accessModes, capacity: at(resources, 'requests') ?? {} };
    if (same(claim.status, status)) return;
    this.#api.update(this.#claim, namespace, name, { ...claim, status }, STATUS);
    for (const pod of this.#api.list(this.#pod, namespace)) this.#pods.add(`${namespace}/${nameOf(pod)}`);
  }

  #nextAddress(): string {
    this.#addresses += 1;
    return `10.${244 + (this.#addresses >> 16)}.${(this.#addresses >> 8) & 255}.${this.#addresses & 255}`;
  }
}

/** Which address of nextAddress it is; 0 for none. */
const numberOf = (address: string): number =>
  address
    .split('.')
    .slice(2)
    .reduce((number, part) => number * 256 + Number(part), 0);
