/** `npm start`: the whole loop on one machine, as in production from the HTTP request inwards. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startFunction } from '../../functions/reconcile/function.ts';
import { readConfig } from '../config.ts';
import { KubernetesClient } from '../kubernetes/client.ts';
import { kubeconfigCredentials } from '../kubernetes/credentials.ts';
import { sender } from '../kubernetes/request.ts';
import { createLog } from '../log.ts';
import { MysqlMembers } from '../mysql/client.ts';
import { textAt } from './api/json.ts';
import { kubeconfigFor, serveApi } from './api/server.ts';
import { StatusError } from './api/status-error.ts';
import { EmbeddedCluster } from './cluster.ts';
import { keepIn, restoreFrom } from './data-file.ts';
import { Forwarder } from './forwarder.ts';
import { nudgeHeaders, nudging } from './nudges.ts';
import { HELP, InvalidOption, parseOptions, type StartOptions } from './options.ts';
import { Show } from './show.ts';

const PROBE_PERIOD = 250;
const NUDGE_EVERY = 10_000;

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  return options.kubeconfig ? againstRealCluster(options, options.kubeconfig) : embedded(options);
}

async function embedded(options: StartOptions): Promise<number> {
  await using cleanup = new AsyncDisposableStack();
  const show = new Show(options.json);
  const log = createLog('warn');
  const counts = { events: 0, passes: 0, writes: 0 };
  const cluster = new EmbeddedCluster({
    speed: options.speed,
    ...(options.data ? restoreFrom(options.data) : {}),
  });
  cluster.installCrd();
  if (options.data) cleanup.defer(keepIn(options.data, cluster));

  const api = await serveApi(cluster.api, { port: options.apiPort });
  cleanup.defer(() => api.close());
  const folder = mkdtempSync(join(tmpdir(), 'mysql-operator-'));
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigFor(api.url));

  const clock = () => new Date();
  const send = sender(await kubeconfigCredentials(kubeconfig));
  const config = readConfig({ PORT: `${options.port}`, LOG_LEVEL: 'warn' }, 'mysql-operator');
  const server = await startFunction({
    config,
    log,
    clock,
    host: '127.0.0.1',
    members: cluster.members,
    cluster: new KubernetesClient({
      clock,
      instance: 'local',
      send: async (request, signal) => {
        const answer = await send(request, signal);
        if (request.method !== 'GET') {
          counts.writes += 1;
          show.write(request.method.toLowerCase(), request.path.replace(/^\/apis?\//, ''));
        }
        return answer;
      },
    }),
    onPass: (ref, pass) => {
      counts.passes += 1;
      if (!(pass.writes === 0 && pass.again)) show.pass(ref, pass);
    },
  });
  cleanup.defer(async () => void (await server.close()));
  const sink = `http://127.0.0.1:${server.port}/`;

  const forwarder = new Forwarder({
    api: cluster.api,
    source: api.url,
    sink,
    resources: [
      { kind: cluster.api.kindOf('example.com/v1alpha1', 'Mysql') },
      { kind: cluster.api.kindOf('v1', 'Pod'), labelSelector: 'app=mysql' },
    ],
    onForwarded: (event) => {
      counts.events += 1;
      show.event(event);
    },
  });
  cleanup.defer(() => forwarder.stop());
  cleanup.defer(cluster.run());
  const probe = nudging({
    model: cluster.model,
    every: NUDGE_EVERY,
    send: (namespace, name) => {
      const headers = nudgeHeaders(namespace, name, crypto.randomUUID());
      fetch(sink, { method: 'POST', headers }).then(
        (response) => show.nudge({ namespace, name }, response.status),
        () => show.nudge({ namespace, name }, 0),
      );
    },
  });
  const probing = setInterval(() => probe(Date.now()), PROBE_PERIOD);
  cleanup.defer(() => clearInterval(probing));

  introduce(show, kubeconfig, sink);
  const applied = options.file ? cluster.applyYaml(readFileSync(options.file, 'utf8')) : [];
  const wanted = applied
    .filter((object) => object.kind === 'Mysql')
    .map((object) => textAt(object, 'metadata', 'name') ?? '');
  if (!options.once) {
    await interrupted();
    show.note('ending');
    return 0;
  }
  // awaited here: what was started above lives until it has an answer
  return await untilReady(options, show, cluster, wanted, counts);
}

async function untilReady(
  { timeout }: StartOptions,
  show: Show,
  cluster: EmbeddedCluster,
  wanted: readonly string[],
  counts: { readonly events: number; readonly passes: number; readonly writes: number },
): Promise<number> {
  const kind = cluster.api.kindOf('example.com/v1alpha1', 'Mysql');
  const statusOf = (name: string) => cluster.api.find(kind, 'default', name)?.status;
  const isReady = (name: string) => {
    const conditions = (statusOf(name) as { conditions?: { type: string; status: string }[] } | undefined)
      ?.conditions;
    return (
      conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false
    );
  };
  const stop = interrupted();
  let ended = false;
  void stop.then(() => {
    ended = true;
  });
  while (!wanted.every(isReady) && show.seconds < timeout && !ended) await pause(PROBE_PERIOD);
  const ready = wanted.every(isReady);
  const nodes = wanted.flatMap((name) => (statusOf(name) as { nodes?: string[] } | undefined)?.nodes ?? []);
  show.result({ ready, seconds: show.seconds, ...counts, nodes });
  return ready ? 0 : 1;
}

async function againstRealCluster(options: StartOptions, kubeconfig: string): Promise<number> {
  await using cleanup = new AsyncDisposableStack();
  const show = new Show(options.json);
  const clock = () => new Date();
  const send = sender(await kubeconfigCredentials(kubeconfig));
  const config = readConfig({ ...process.env, PORT: `${options.port}` }, 'mysql-operator');
  const server = await startFunction({
    config,
    clock,
    log: createLog(config.logLevel),
    host: '127.0.0.1',
    members: new MysqlMembers(),
    cluster: new KubernetesClient({ send, clock, instance: 'local' }),
    onPass: (ref, pass) => show.pass(ref, pass),
  });
  cleanup.defer(async () => void (await server.close()));
  show.note(
    `The function listens on http://127.0.0.1:${server.port}/ and acts on the cluster of ${kubeconfig}.`,
  );
  await interrupted();
  return 0;
}

function introduce(show: Show, kubeconfig: string, sink: string): void {
  show.note(`
The function listens on  ${sink}
kubectl works with       export KUBECONFIG=${kubeconfig}
Post an event by hand    curl -i ${sink} -X POST -H 'ce-specversion: 1.0' -H 'ce-id: 1' -H 'ce-source: me' \\
                           -H 'ce-type: com.example.mysql.nudge' -H 'ce-subject: default/mysql-sample'
Look at everything       KUBECONFIG=${kubeconfig} K_SINK=${sink} npm run resync -- --all
Then try                 kubectl get mysql -w;  kubectl delete pod mysql-sample-0;  kubectl scale mysql mysql-sample --replicas 5
Ctrl-C ends it.
`);
}

const interrupted = (): Promise<void> =>
  new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    const expected =
      error instanceof InvalidOption ||
      error instanceof StatusError ||
      (error instanceof Error && 'code' in error);
    console.error(expected ? (error as Error).message : error);
    process.exit(error instanceof InvalidOption ? 2 : 1);
  },
);
