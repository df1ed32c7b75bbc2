/** What the API server held at an earlier moment: for reads that come out of date. */
import { KubernetesClient } from '../../src/kubernetes/client.ts';
import type { Cluster } from '../../src/kubernetes/cluster.ts';
import { Api } from '../../src/local/api/api.ts';
import { handlerFor } from '../../src/local/api/server.ts';
import { type Change, Store, type Stored } from '../../src/local/api/store.ts';
import { sendTo } from '../../src/local/in-process.ts';

export class Past {
  readonly #first: readonly Stored[];
  readonly #changes: Change[] = [];
  readonly #known = new Map<number, Cluster>();

  constructor(api: Api) {
    this.#first = api.store.snapshot().objects;
    api.onChange((change) => this.#changes.push(change));
  }

  /** Every change since, oldest first. */
  get changes(): readonly Change[] {
    return this.#changes;
  }

  /** The cluster as it was `back` changes ago; reads only. */
  before(back: number): Cluster {
    const count = Math.max(0, this.#changes.length - back);
    const known = this.#known.get(count) ?? this.#rebuild(count);
    this.#known.set(count, known);
    return known;
  }

  #rebuild(count: number): Cluster {
    const objects = new Map(this.#first.map((stored) => [keyOf(stored), stored]));
    const changes = this.#changes.slice(0, count);
    for (const { type, stored } of changes) {
      if (type === 'DELETED') objects.delete(keyOf(stored));
      else objects.set(keyOf(stored), stored);
    }
    const store = new Store();
    store.restore({ version: changes.at(-1)?.version ?? 1, objects: [...objects.values()] });
    const send = sendTo(handlerFor(new Api({ store })));
    return new KubernetesClient({ send, clock: () => new Date(0), instance: 'past' });
  }
}

const keyOf = ({ resource, namespace, name }: Stored): string => `${resource}/${namespace}/${name}`;
