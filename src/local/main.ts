/** `npm start`: the whole loop on one machine, or the function alone against a real cluster. */
import { setTimeout as pause } from 'node:timers/promises';
import { startFunction } from '../../functions/reconcile/function.ts';
import { InvalidConfig, readConfig } from '../config.ts';
import { Permanent } from '../errors.ts';
import { KubernetesClient } from '../kubernetes/client.ts';
import { kubeconfigCredentials } from '../kubernetes/credentials.ts';
import { sender } from '../kubernetes/request.ts';
import { createLog } from '../log.ts';
import { MysqlMembers } from '../mysql/client.ts';
import { applyFile, type Embedded, startEmbedded } from './embedded.ts';
import { HELP, InvalidOption, parseOptions, type StartOptions } from './options.ts';
import { Show } from './show.ts';

/** Resolves at Ctrl-C or SIGTERM; a second Ctrl-C ends the process at once, as Node does by itself. */
const interrupted = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resolve());
});

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  const show = new Show(options.json);
  return options.kubeconfig ? onRealCluster(options, options.kubeconfig, show) : onThisMachine(options, show);
}

async function onThisMachine(options: StartOptions, show: Show): Promise<number> {
  await using embedded = await startEmbedded(options, show);
  introduce(show, embedded);
  const mysqls = options.file ? applyFile(embedded.cluster, options.file) : [];
  if (!options.once) {
    await interrupted;
    show.say('\nending', { ending: true });
    return 0;
  }
  if (mysqls.length === 0) throw new InvalidOption(`--once needs a Mysql, and ${options.file} has none`);
  const tooLate = new AbortController();
  const nodes = await Promise.race([
    embedded.ready(mysqls),
    interrupted.then(() => undefined),
    pause(options.timeout * 1_000, undefined, { signal: tooLate.signal }),
  ]);
  tooLate.abort();
  show.result({ ready: nodes !== undefined, seconds: show.seconds, ...embedded.counts, nodes: nodes ?? [] });
  return nodes ? 0 : 1;
}

function introduce(show: Show, { sink, kubeconfig }: Embedded): void {
  show.say(
    `
The function listens on  ${sink}
kubectl works with       export KUBECONFIG=${kubeconfig}
Post an event by hand    curl -i ${sink} -X POST -H 'ce-specversion: 1.0' -H 'ce-id: 1' -H 'ce-source: me' \\
                           -H 'ce-type: com.example.mysql.nudge' -H 'ce-subject: default/mysql-sample'
Look at everything       KUBECONFIG=${kubeconfig} K_SINK=${sink} npm run resync -- --all
Then try                 kubectl get mysql -w
                         kubectl scale mysql mysql-sample --replicas 5
                         kubectl delete pod mysql-sample-0            the primary hands over and goes
                         kubectl delete pod mysql-sample-0 --force    it is just gone: a failover
                         kubectl delete pod --all --force             all of them: a full outage
Ctrl-C ends it.
`,
    { sink, kubeconfig },
  );
}

async function onRealCluster(options: StartOptions, kubeconfig: string, show: Show): Promise<number> {
  const clock = () => new Date();
  const config = readConfig({ ...process.env, PORT: `${options.port}` }, undefined);
  const send = sender(await kubeconfigCredentials(kubeconfig));
  const server = await startFunction({
    config,
    clock,
    log: createLog('error'),
    host: '127.0.0.1',
    members: new MysqlMembers(),
    cluster: new KubernetesClient({ send, clock, instance: 'local' }),
    onPass: (ref, pass) => show.pass(ref, pass),
  });
  const sink = `http://127.0.0.1:${server.port}/`;
  show.say(
    `The function listens on ${sink} and acts on the cluster of ${kubeconfig}, one event at a time: post them by hand.
It must reach the pods' addresses: run it where they are routed.`,
    { sink, kubeconfig },
  );
  await interrupted;
  await server.close();
  return 0;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    const usage = error instanceof InvalidOption || error instanceof InvalidConfig;
    const expected = usage || error instanceof Permanent || (error instanceof Error && 'code' in error);
    console.error(expected ? error.message : error);
    process.exit(usage ? 2 : 1);
  },
);
