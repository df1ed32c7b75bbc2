/** Entry point of the Knative function: environment → ports → server, and a clean end on SIGTERM. */
import { existsSync, readFileSync } from 'node:fs';
import { type Config, environmentHelp, helpWanted, InvalidConfig, readConfig } from '../../src/config.ts';
import { KubernetesClient } from '../../src/kubernetes/client.ts';
import { inClusterCredentials, kubeconfigCredentials } from '../../src/kubernetes/credentials.ts';
import { sender } from '../../src/kubernetes/request.ts';
import { createLog } from '../../src/log.ts';
import { MysqlMembers } from '../../src/mysql/client.ts';
import { startFunction } from './function.ts';

const HELP = `The function of mysql-operator: takes CloudEvents on POST /, looks at the Mysql that each concerns, and brings it to its spec.

Environment:
${environmentHelp()}`;

const NAMESPACE_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

async function main(): Promise<void> {
  if (helpWanted(process.argv.slice(2))) {
    console.log(HELP);
    return;
  }
  const namespace = existsSync(NAMESPACE_FILE) ? readFileSync(NAMESPACE_FILE, 'utf8').trim() : undefined;
  const config = readConfig(process.env, namespace);
  const log = createLog(config.logLevel);
  const clock = () => new Date();
  const send = sender(await credentials(config));
  const server = await startFunction({
    config,
    log,
    clock,
    cluster: new KubernetesClient({ send, clock, instance: config.instance }),
    members: new MysqlMembers(),
  });
  log.info({ port: server.port }, 'listening');

  const end = async (signal: string) => {
    const drained = await server.close();
    log.info({ signal, drained }, 'ended');
    process.exit(0);
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
}

const credentials = (config: Config) =>
  config.apiHost && !config.kubeconfig
    ? inClusterCredentials(config.apiHost, config.apiPort)
    : kubeconfigCredentials(config.kubeconfig);

main().catch((error: unknown) => {
  console.error(error instanceof InvalidConfig ? error.message : error);
  process.exit(error instanceof InvalidConfig ? 2 : 1);
});
