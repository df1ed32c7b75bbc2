/** Pods run: claims are bound, containers start a modelled server, readiness follows it, and a deleted pod ends gracefully. */
import { LABEL, nodesServiceName, podHost } from '../../resource/names.ts';
import type { Api } from '../api/api.ts';
import { at, type Json, type JsonObject, same, textAt } from '../api/json.ts';
import type { Kind } from '../api/kinds.ts';
import type { GroupModel } from '../group/model.ts';
import type { Server } from '../group/server.ts';
import { Work } from './work.ts';

const MANAGER = { manager: 'kubelet' };
/** Images that nobody can pull, so that it can be seen what happens then. */
const UNPULLABLE = /(^|[/:])(bad|missing)/;

export class Kubelet {
  readonly #api: Api;
  readonly #model: GroupModel;
  readonly #clock: () => Date;
  readonly #pod: Kind;
  readonly #claim: Kind;
  readonly #work = new Work((key) => this.#sync(key));
  #addresses = 0;

  constructor(api: Api, model: GroupModel, clock: () => Date) {
    this.#api = api;
    this.#model = model;
    this.#clock = clock;
    this.#pod = api.kindOf('v1', 'Pod');
    this.#claim = api.kindOf('v1', 'PersistentVolumeClaim');
    api.nodePresent = true;
    api.onChange(({ type, stored }) => {
      if (stored.resource === 'pods.' && type !== 'DELETED')
        this.#work.add(`${stored.namespace}/${stored.name}`);
      if (stored.resource === 'pods.' && type === 'DELETED') this.#stop(stored.namespace, stored.name);
      if (stored.resource === 'persistentvolumeclaims.' && type === 'DELETED') {
        this.#model.removeVolume(textAt(stored.object, 'metadata', 'uid') ?? '');
      }
      if (stored.resource === 'persistentvolumeclaims.' && type !== 'DELETED')
        this.#bind(stored.namespace, stored.name);
    });
    model.onChange((server) => this.#work.add(`${server.namespace}/${server.pod}`));
    for (const { namespace, name, resource } of api.store.all())
      if (resource === 'pods.') this.#work.add(`${namespace}/${name}`);
  }

  step(): boolean {
    return this.#work.drain();
  }

  #sync(key: string): void {
    const [namespace = '', name = ''] = key.split('/');
    const pod = this.#api.find(this.#pod, namespace, name);
    if (!pod) return;
    if (at(pod, 'metadata', 'deletionTimestamp')) {
      this.#stop(namespace, name);
      this.#api.delete(this.#pod, namespace, name, { gracePeriodSeconds: 0 });
      return;
    }
    const status = this.#statusOf(pod);
    if (!same(pod.status, status)) {
      this.#api.update(this.#pod, namespace, name, { ...pod, status }, { ...MANAGER, subresource: 'status' });
    }
  }

  #stop(namespace: string, name: string): void {
    const server = this.#model.server(namespace, name);
    if (server) this.#model.stop(server);
  }

  #statusOf(pod: JsonObject): JsonObject {
    const image = imageOf(pod);
    const { namespace, name } = pod.metadata as JsonObject;
    const scheduled: Json = {
      type: 'PodScheduled',
      status: 'True',
      lastTransitionTime: this.#since(pod, 'PodScheduled', 'True'),
    };
    if (UNPULLABLE.test(image)) {
      return {
        phase: 'Pending',
        conditions: [scheduled, this.#ready(pod, false)],
        containerStatuses: [
          this.#container(
            pod,
            { waiting: { reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}"` } },
            false,
          ),
        ],
      };
    }
    const server = this.#model.server(String(namespace), String(name)) ?? this.#run(pod, image);
    const ready = server === undefined || (server.state === 'ONLINE' && server.answers);
    return {
      phase: 'Running',
      podIP: textAt(pod, 'status', 'podIP') ?? server?.address ?? this.#nextAddress(),
      startTime: textAt(pod, 'status', 'startTime') ?? this.#now(),
      conditions: [scheduled, this.#ready(pod, ready)],
      containerStatuses: [
        this.#container(
          pod,
          { running: { startedAt: textAt(pod, 'status', 'startTime') ?? this.#now() } },
          ready,
        ),
      ],
    };
  }

  /** Pods of a Mysql get a server; others just run. */
  #run(pod: JsonObject, image: string): Server | undefined {
    const { namespace, name } = pod.metadata as JsonObject;
    const cluster = textAt(pod, 'metadata', 'labels', LABEL.cluster);
    if (!cluster || textAt(pod, 'spec', 'subdomain') !== nodesServiceName(cluster)) return undefined;
    const claim = this.#api.find(this.#claim, String(namespace), `data-${String(name)}`);
    return this.#model.start({
      namespace: String(namespace),
      cluster,
      pod: String(name),
      host: podHost({ namespace: String(namespace), name: cluster }, String(name)),
      address: textAt(pod, 'status', 'podIP') ?? this.#nextAddress(),
      image,
      volume: textAt(claim, 'metadata', 'uid') ?? `${String(namespace)}/${String(name)}`,
    });
  }

  #bind(namespace: string, name: string): void {
    const claim = this.#api.find(this.#claim, namespace, name);
    if (!claim) return;
    const capacity = at(claim, 'spec', 'resources', 'requests') ?? {};
    const status: JsonObject = {
      phase: 'Bound',
      accessModes: at(claim, 'spec', 'accessModes') ?? [],
      capacity,
    };
    if (!same(claim.status, status)) {
      this.#api.update(
        this.#claim,
        namespace,
        name,
        { ...claim, status },
        { ...MANAGER, subresource: 'status' },
      );
    }
  }

  #container(pod: JsonObject, state: JsonObject, ready: boolean): Json {
    return {
      name: 'mysqld',
      image: imageOf(pod),
      imageID: '',
      restartCount: 0,
      ready,
      started: ready,
      state,
    };
  }

  #ready(pod: JsonObject, ready: boolean): Json {
    const status = ready ? 'True' : 'False';
    return { type: 'Ready', status, lastTransitionTime: this.#since(pod, 'Ready', status) };
  }

  #since(pod: JsonObject, type: string, status: string): string {
    const conditions = at(pod, 'status', 'conditions');
    const before = (Array.isArray(conditions) ? conditions : []).find((one) => textAt(one, 'type') === type);
    return textAt(before, 'status') === status
      ? (textAt(before, 'lastTransitionTime') ?? this.#now())
      : this.#now();
  }

  #nextAddress(): string {
    this.#addresses += 1;
    return `10.244.${this.#addresses >> 8}.${this.#addresses & 255}`;
  }

  #now(): string {
    return this.#clock()
      .toISOString()
      .replace(/\.\d+Z$/, 'Z');
  }
}

function imageOf(pod: JsonObject): string {
  const containers = at(pod, 'spec', 'containers');
  return textAt(Array.isArray(containers) ? containers[0] : undefined, 'image') ?? '';
}
