/**
 * The embedded cluster put together: API, controllers, pods with modelled MySQL servers. In real time it runs by itself (`run`); tests
 * and harnesses move it step by step (`settle`).
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { Api, type ApiOptions } from './api/api.ts';
import { isObject, type JsonObject, textAt } from './api/json.ts';
import { ownerUids } from './api/store.ts';
import { Kubelet } from './controllers/kubelet.ts';
import { StatefulSetController } from './controllers/statefulset.ts';
import { ModelMembers } from './group/members.ts';
import { GroupModel, type ModelOptions } from './group/model.ts';

export interface EmbeddedOptions
  extends ApiOptions,
    Pick<ModelOptions, 'speed' | 'cloneThreshold' | 'volumes'> {}

/** Milliseconds between looks at what time alone brings about. */
const TICK = 50;

export class EmbeddedCluster {
  readonly api: Api;
  readonly model: GroupModel;
  readonly members: ModelMembers;
  readonly #clock: () => Date;
  readonly #sets: StatefulSetController;
  readonly #kubelet: Kubelet;
  /** Nothing becomes garbage but by a deletion, or when it is made after its owner is gone. */
  #garbage = true;

  constructor(options: EmbeddedOptions = {}) {
    this.#clock = options.clock ?? (() => new Date());
    this.api = new Api({ ...options, clock: this.#clock });
    this.model = new GroupModel({
      uuid: options.uid ?? randomUUID,
      ...options,
      now: this.#clock().getTime(),
    });
    this.members = new ModelMembers(this.model);
    for (const name of ['default', 'kube-system']) this.#ensureNamespace(name);
    this.#sets = new StatefulSetController(this.api, this.#clock);
    this.#kubelet = new Kubelet(this.api, this.model, this.#clock);
    this.api.onChange(({ type, stored }) => {
      if (type === 'DELETED' || (type === 'ADDED' && ownerUids(stored.object).length > 0))
        this.#garbage = true;
    });
  }

  /** Everything that can happen now happens: servers, pods, sets, garbage. */
  settle(): void {
    this.model.advance(this.#clock().getTime());
    for (let busy = true; busy; ) {
      const sets = this.#sets.step();
      const pods = this.#kubelet.step();
      busy = sets || pods || this.#collectGarbage();
    }
  }

  #collectGarbage(): boolean {
    if (!this.#garbage) return false;
    this.#garbage = false;
    return this.api.collectGarbage() > 0;
  }

  /** In real time from now on; returns how to stop. */
  run(): () => void {
    let soon: NodeJS.Immediate | undefined;
    const settle = () => {
      soon = undefined;
      this.settle();
    };
    const stopListening = this.api.onChange(() => {
      soon ??= setImmediate(settle);
    });
    const timer = setInterval(settle, TICK);
    return () => {
      stopListening();
      clearInterval(timer);
      clearImmediate(soon);
    };
  }

  /** Applies every object of a YAML text, as `kubectl apply --server-side` does; returns them. Throws StatusError. */
  applyYaml(text: string, namespace = 'default'): JsonObject[] {
    return parseAllDocuments(text, { merge: true })
      .map((document) => {
        if (document.errors[0]) throw document.errors[0];
        return document.toJS() as unknown;
      })
      .filter(isObject)
      .map((object) => {
        const kind = this.api.kindOf(textAt(object, 'apiVersion') ?? '', textAt(object, 'kind') ?? '');
        const name = textAt(object, 'metadata', 'name') ?? '';
        return this.api.patch(
          kind,
          textAt(object, 'metadata', 'namespace') ?? namespace,
          name,
          'apply',
          object,
          {
            manager: 'kubectl',
            force: true,
          },
        );
      });
  }

  /** The project's own CRD. */
  installCrd(): void {
    this.applyYaml(readFileSync(new URL('../../crds/mysql.yaml', import.meta.url), 'utf8'));
  }

  #ensureNamespace(name: string): void {
    const kind = this.api.kindOf('v1', 'Namespace');
    if (!this.api.find(kind, '', name)) this.api.create(kind, '', { metadata: { name } });
  }
}
