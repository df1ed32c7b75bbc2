/**
 * The layers below the server on an embedded cluster whose time the test moves: real HTTP to the API server, modelled members, every
 * request on record.
 */
import { someSettings } from './desired/testing.ts';
import { KubernetesClient } from './kubernetes/client.ts';
import { sender } from './kubernetes/request.ts';
import { textAt } from './local/api/json.ts';
import { type Interception, serveApi } from './local/api/server.ts';
import { EmbeddedCluster } from './local/cluster.ts';
import type { Server } from './local/group/server.ts';
import type { Pass } from './pass.ts';
import { type Ports, reconcile } from './reconcile.ts';
import type { MysqlSpec } from './resource/mysql.ts';
import { API_VERSION, podName } from './resource/names.ts';

export const REF = { namespace: 'default', name: 'db' };
const KINDS = [
  'Secret',
  'ConfigMap',
  'Service',
  'Pod',
  'PersistentVolumeClaim',
  'StatefulSet',
  'PodDisruptionBudget',
] as const;

export const signal = (): AbortSignal => AbortSignal.timeout(30_000);

interface Sent {
  readonly method: string;
  readonly path: string;
}

export interface Stage extends AsyncDisposable {
  readonly cluster: EmbeddedCluster;
  readonly ports: Ports;
  /** What the API server was asked, oldest first. */
  readonly requests: Sent[];
  /** An answer in place of the API server's; undefined: its own. */
  intercept: ((sent: Sent) => Promise<Interception | undefined> | Interception | undefined) | undefined;
  /** Makes or changes the Mysql, as a user does. */
  apply(spec?: Partial<MysqlSpec>): void;
  /** Moves time and all that is due. */
  advance(milliseconds: number): void;
  /** One pass, and then what it set off. */
  pass(): Promise<Pass>;
  /** Passes, half a second apart, until one finds nothing to do: that one. */
  settled(): Promise<Pass>;
  server(ordinal: number): Server;
  /** A live object as it is stored, looked into by assertions only. */
  // biome-ignore lint/suspicious/noExplicitAny: of any kind
  live(kind: keyof typeof VERSIONS, name?: string): any;
  /** All that a Mysql has, in order: `Pod db-0`. */
  objects(): string[];
}

const VERSIONS = {
  Mysql: API_VERSION,
  StatefulSet: 'apps/v1',
  Service: 'v1',
  Secret: 'v1',
  ConfigMap: 'v1',
  Pod: 'v1',
  PersistentVolumeClaim: 'v1',
  PodDisruptionBudget: 'policy/v1',
} as const;

export async function aStage(): Promise<Stage> {
  let now = Date.parse('2026-01-02T03:04:05.678Z');
  const clock = () => new Date(now);
  const cluster = new EmbeddedCluster({ clock });
  cluster.installCrd();
  const requests: Sent[] = [];
  const api = await serveApi(cluster.api, {
    intercept: (sent) => {
      requests.push(sent);
      return stage.intercept?.(sent);
    },
  });
  const send = sender({ server: new URL(api.url), options: async () => ({}) });
  const ports: Ports = {
    cluster: new KubernetesClient({ send, clock, instance: 'test' }),
    members: cluster.members,
    clock,
    settings: someSettings(),
  };
  const stage: Stage = {
    cluster,
    ports,
    requests,
    intercept: undefined,
    apply(spec = {}) {
      const { name, namespace } = REF;
      const mysql = {
        apiVersion: API_VERSION,
        kind: 'Mysql',
        metadata: { name, namespace },
        spec: { size: 3, image: 'mysql:8.4', ...spec },
      };
      cluster.applyYaml(JSON.stringify(mysql));
    },
    advance(milliseconds) {
      now += milliseconds;
      cluster.settle();
    },
    async pass() {
      const pass = await reconcile(REF, ports, signal());
      cluster.settle();
      return pass;
    },
    async settled() {
      for (let passes = 0; passes < 200; passes += 1) {
        const pass = await stage.pass();
        if (!pass.again && pass.writes === 0) return pass;
        stage.advance(500);
      }
      throw new Error('it does not settle');
    },
    server(ordinal) {
      const server = cluster.model.server(REF.namespace, podName(REF.name, ordinal));
      if (!server) throw new Error(`there is no server ${ordinal}`);
      return server;
    },
    live: (kind, name = REF.name) =>
      cluster.api.find(cluster.api.kindOf(VERSIONS[kind], kind), REF.namespace, name),
    objects: () =>
      KINDS.flatMap((kind) =>
        cluster.api
          .list(cluster.api.kindOf(VERSIONS[kind], kind), REF.namespace)
          .map((object) => `${kind} ${textAt(object, 'metadata', 'name')}`),
      ).sort(),
    [Symbol.asyncDispose]: () => api.close(),
  };
  return stage;
}

export const isWrite = ({ method }: Sent): boolean => method !== 'GET';

/** A cluster at rest; what it took is not on record. */
export async function aSettledStage(spec: Partial<MysqlSpec> = {}): Promise<Stage> {
  const stage = await aStage();
  stage.apply(spec);
  await stage.settled();
  stage.requests.length = 0;
  return stage;
}
