/** Entry point of the Knative function: environment → ports → server, and a clean end on SIGTERM. */
import { existsSync, readFileSync } from 'node:fs';
import { functionHelp, readConfig, readFlags } from '../../src/config.ts';
import { KubernetesClient } from '../../src/kubernetes/client.ts';
import { credentialsFor } from '../../src/kubernetes/credentials.ts';
import { sender } from '../../src/kubernetes/request.ts';
import { createLog } from '../../src/log.ts';
import { MysqlMembers } from '../../src/mysql/client.ts';
import { run } from '../run.ts';
import { startFunction } from './function.ts';

const HELP = `The function of mysql-operator: takes CloudEvents on POST /, looks at the Mysql that each concerns, and brings it to its spec.

Options:
  --help                 this text

Environment:
${functionHelp()}`;

const NAMESPACE_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

async function main(): Promise<void> {
  if (readFlags(process.argv.slice(2), ['help']).has('help')) {
    console.log(HELP);
    return;
  }
  const namespace = existsSync(NAMESPACE_FILE) ? readFileSync(NAMESPACE_FILE, 'utf8').trim() : undefined;
  const config = readConfig(process.env, namespace);
  const log = createLog(config.logLevel);
  // a fault of ours that nobody caught: the next event finds a fresh process, which classifies anew
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'unexpected');
    process.exit(1);
  });
  const clock = () => new Date();
  const send = sender(await credentialsFor(config));
  const cluster = new KubernetesClient({ send, clock, instance: config.instance });
  const server = await startFunction({ config, log, clock, cluster, members: new MysqlMembers() });
  const end = async (signal: string) => {
    const drained = await server.close();
    log.info({ signal, drained }, 'ended');
    process.exit(0);
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
  // last: who reads this may end it at once
  log.info({ port: server.port }, 'listening');
}

run(main);
