/** The function as it runs in production, its API server and its members embedded, and everything it does on record. */
import { startFunction } from '../../functions/reconcile/function.ts';
import { readConfig } from '../../src/config.ts';
import { KubernetesClient } from '../../src/kubernetes/client.ts';
import { sender } from '../../src/kubernetes/request.ts';
import { type ApiServer, type ServerOptions, serveApi } from '../../src/local/api/server.ts';
import { EmbeddedCluster } from '../../src/local/cluster.ts';
import { createLog } from '../../src/log.ts';
import type { Pass } from '../../src/pass.ts';
import { type MysqlRef, refKey } from '../../src/resource/names.ts';
import { type Answer, type Sent, send } from './server.ts';

export interface World extends AsyncDisposable {
  readonly cluster: EmbeddedCluster;
  readonly api: ApiServer;
  readonly post: (sent: Sent) => Promise<Answer>;
  /** Requests that the API server got, in order. */
  readonly requests: { readonly method: string; readonly path: string }[];
  readonly passes: { readonly key: string; readonly pass: Pass }[];
  /** Resolves once a pass over the Mysql, the first `since` ones not counted, has ended in this state. */
  readonly until: (key: string, state: Pass['state'], since?: number) => Promise<void>;
}

/** Modelled servers are this many times as quick as real ones. */
const SPEED = 100;

export async function aWorld({ intercept }: Pick<ServerOptions, 'intercept'> = {}): Promise<World> {
  const cleanup = new AsyncDisposableStack();
  const cluster = new EmbeddedCluster({ speed: SPEED });
  cluster.installCrd();
  const requests: World['requests'] = [];
  const api = await serveApi(cluster.api, {
    intercept: (request) => {
      requests.push(request);
      return intercept?.(request);
    },
  });
  cleanup.defer(() => api.close());
  cleanup.defer(cluster.run());

  const passes: World['passes'] = [];
  const watchers = new Set<() => void>();
  const clock = () => new Date();
  const server = await startFunction({
    config: readConfig({ PORT: '0', LOOK_AGAIN_MS: '20' }, undefined),
    cluster: new KubernetesClient({
      send: sender({ server: new URL(api.url), options: async () => ({}) }),
      clock,
      instance: 'test',
    }),
    members: cluster.members,
    log: createLog('silent'),
    clock,
    host: '127.0.0.1',
    onPass: (ref: MysqlRef, pass: Pass) => {
      passes.push({ key: refKey(ref), pass });
      for (const watcher of watchers) watcher();
    },
  });
  cleanup.defer(async () => void (await server.close()));

  const until: World['until'] = (key, state, since = 0) =>
    new Promise((resolve) => {
      const watcher = () => {
        if (!passes.slice(since).some((one) => one.key === key && one.pass.state === state)) return;
        watchers.delete(watcher);
        resolve();
      };
      watchers.add(watcher);
      watcher();
    });
  return {
    cluster,
    api,
    requests,
    passes,
    until,
    post: (sent) => send(server.port, sent),
    [Symbol.asyncDispose]: () => cleanup.disposeAsync(),
  };
}

export const mysqlYaml = (name: string, spec = '{ size: 3, image: "mysql:8.4" }'): string =>
  `{ apiVersion: example.com/v1alpha1, kind: Mysql, metadata: { name: ${name}, namespace: default }, spec: ${spec} }`;
