/** The whole loop on one machine, as in production from the HTTP request inwards. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFunction } from '../../functions/reconcile/function.ts';
import { readConfig } from '../config.ts';
import { KubernetesClient } from '../kubernetes/client.ts';
import { kubeconfigCredentials } from '../kubernetes/credentials.ts';
import { sender } from '../kubernetes/request.ts';
import { createLog } from '../log.ts';
import { API_VERSION, KIND } from '../resource/names.ts';
import { type JsonObject, textAt } from './api/json.ts';
import { kubeconfigFor, serveApi } from './api/server.ts';
import { EmbeddedCluster } from './cluster.ts';
import { conditionOf, nameOf, namespaceOf, textsAt } from './controllers/objects.ts';
import { keepIn, type Restored, restoreFrom } from './data-file.ts';
import { Forwarder } from './forwarder.ts';
import { nudgeHeaders, nudging } from './nudges.ts';
import { InvalidOption, type StartOptions } from './options.ts';
import { resyncEvery } from './resync-job.ts';
import type { Show } from './show.ts';
import { writeOf } from './writes.ts';

export interface Embedded extends AsyncDisposable {
  readonly cluster: EmbeddedCluster;
  /** Where events go. */
  readonly sink: string;
  /** Path of the file. */
  readonly kubeconfig: string;
  readonly counts: { readonly events: number; readonly passes: number; readonly writes: number };
  /** Resolves when every one of these Mysqls is Ready; gives the names of their ONLINE members. */
  readonly ready: (mysqls: readonly JsonObject[]) => Promise<string[]>;
}

/** Milliseconds: the probe of a pod looks every second; real servers are slower to tell news than modelled ones. */
const PROBE_PERIOD = 250;
const NUDGE_EVERY = 10_000;
const RESYNC_EVERY = 60_000;

/** Throws InvalidOption. */
export async function startEmbedded(options: StartOptions, show: Show): Promise<Embedded> {
  await using cleanup = new AsyncDisposableStack();
  const counts = { events: 0, passes: 0, writes: 0 };
  const cluster = new EmbeddedCluster({
    speed: options.speed,
    ...(options.data ? restored(options.data) : {}),
  });
  cluster.installCrd();
  if (options.data) cleanup.defer(keepIn(options.data, cluster));

  const api = await serveApi(cluster.api, { port: options.apiPort }).catch((cause: Error) => {
    throw new InvalidOption(`--api-port ${options.apiPort}: ${cause.message}`, { cause });
  });
  cleanup.defer(() => api.close());
  const folder = mkdtempSync(join(tmpdir(), 'mysql-operator-'));
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigFor(api.url));

  const clock = () => new Date();
  const send = sender(await kubeconfigCredentials(kubeconfig));
  const server = await startFunction({
    config: readConfig({ PORT: `${options.port}` }, undefined),
    // a pass that fails is shown as a pass; what is left is a fault of ours
    log: createLog('error'),
    clock,
    host: '127.0.0.1',
    members: cluster.members,
    cluster: new KubernetesClient({
      clock,
      instance: 'local',
      send: async (request, signal) => {
        const answer = await send(request, signal);
        const write = writeOf(request);
        if (write) {
          counts.writes += 1;
          show.write(write);
        }
        return answer;
      },
    }),
    onPass: (ref, pass) => {
      counts.passes += 1;
      show.pass(ref, pass);
    },
  }).catch((cause: Error) => {
    throw new InvalidOption(`--port ${options.port}: ${cause.message}`, { cause });
  });
  cleanup.defer(async () => void (await server.close()));
  const sink = `http://127.0.0.1:${server.port}/`;

  const mysqlKind = cluster.api.kindOf(API_VERSION, KIND);
  const forwarder = new Forwarder({
    api: cluster.api,
    source: api.url,
    sink,
    resources: [{ kind: mysqlKind }, { kind: cluster.api.kindOf('v1', 'Pod'), labelSelector: 'app=mysql' }],
    onForwarded: (event) => {
      counts.events += 1;
      show.event(event);
    },
  });
  cleanup.defer(() => forwarder.stop());
  cleanup.defer(showReadiness(cluster, show));
  cleanup.defer(cluster.run());
  cleanup.defer(startNudging(cluster, sink, show));

  cleanup.defer(resyncEvery({ kubeconfig, sink, every: RESYNC_EVERY, onEnd: (line) => show.resync(line) }));

  const resources = cleanup.move();
  return {
    cluster,
    sink,
    kubeconfig,
    counts,
    ready: (mysqls) => whenReady(cluster, mysqls),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function restored(file: string): Restored {
  try {
    return restoreFrom(file);
  } catch (cause) {
    throw new InvalidOption(`--data ${(cause as Error).message}`, { cause });
  }
}

/** Applies the file; gives the Mysqls in it. Throws InvalidOption. */
export function applyFile(cluster: EmbeddedCluster, file: string): JsonObject[] {
  try {
    return cluster.applyYaml(readFileSync(file, 'utf8')).filter((object) => object.kind === KIND);
  } catch (cause) {
    throw new InvalidOption(`--file ${file}: ${(cause as Error).message}`, { cause });
  }
}

function startNudging({ model }: EmbeddedCluster, sink: string, show: Show): () => void {
  const probe = nudging({
    model,
    every: NUDGE_EVERY,
    send: (namespace, name) => {
      const headers = nudgeHeaders(namespace, name, crypto.randomUUID());
      fetch(sink, { method: 'POST', headers }).then(
        ({ status }) => show.nudge({ namespace, name }, status),
        () => show.nudge({ namespace, name }, 0),
      );
    },
  });
  const timer = setInterval(() => probe(Date.now()), PROBE_PERIOD);
  return () => clearInterval(timer);
}

const isReady = (mysql: JsonObject | undefined): boolean =>
  mysql !== undefined && conditionOf(mysql, 'Ready')?.status === 'True';

/** Tells when a Mysql becomes Ready, and when it is not any more. */
function showReadiness({ api }: EmbeddedCluster, show: Show): () => void {
  return api.onChange(({ type, before, stored: { object, namespace, name } }) => {
    if (object.kind !== KIND || type === 'DELETED' || isReady(before) === isReady(object)) return;
    const message = textAt(conditionOf(object, 'Ready'), 'message') ?? '';
    show.ready(`${namespace}/${name}`, isReady(object), message);
  });
}

function whenReady({ api }: EmbeddedCluster, mysqls: readonly JsonObject[]): Promise<string[]> {
  const kind = api.kindOf(API_VERSION, KIND);
  return new Promise((resolve) => {
    const look = () => {
      const live = mysqls.map((mysql) => api.find(kind, namespaceOf(mysql), nameOf(mysql)));
      if (!live.every(isReady)) return;
      stop();
      resolve(live.flatMap((mysql) => textsAt(mysql, 'status', 'nodes')));
    };
    const stop = api.onChange(look);
    look();
  });
}
