/** The running servers, found by pod, by address and by cluster. */
import type { Server } from './server.ts';

export class Registry {
  readonly #byPod = new Map<string, Server>();
  readonly #byAddress = new Map<string, Server>();
  readonly #byCluster = new Map<string, Set<Server>>();

  add(server: Server): void {
    this.#byPod.set(key(server.namespace, server.pod), server);
    this.#byAddress.set(server.address, server);
    const cluster = this.#byCluster.get(key(server.namespace, server.cluster)) ?? new Set();
    this.#byCluster.set(key(server.namespace, server.cluster), cluster.add(server));
  }

  remove(server: Server): void {
    this.#byPod.delete(key(server.namespace, server.pod));
    this.#byAddress.delete(server.address);
    this.#byCluster.get(key(server.namespace, server.cluster))?.delete(server);
  }

  ofPod(namespace: string, pod: string): Server | undefined {
    return this.#byPod.get(key(namespace, pod));
  }

  at(address: string): Server | undefined {
    return this.#byAddress.get(address);
  }

  ofCluster(namespace: string, cluster: string): Server[] {
    return [...(this.#byCluster.get(key(namespace, cluster)) ?? [])];
  }
}

const key = (namespace: string, name: string): string => `${namespace}/${name}`;
