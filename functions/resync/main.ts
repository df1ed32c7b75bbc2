/** Entry point of the CronJob: one run over all Mysqls, one line of summary, and an exit code that tells whether all was delivered. */
import { readFlags, readResyncConfig, resyncHelp } from '../../src/config.ts';
import { KubernetesClient } from '../../src/kubernetes/client.ts';
import { credentialsFor } from '../../src/kubernetes/credentials.ts';
import { sender } from '../../src/kubernetes/request.ts';
import { createLog } from '../../src/log.ts';
import { refKey } from '../../src/resource/names.ts';
import { poster } from '../../src/resync/post.ts';
import { resync } from '../../src/resync/resync.ts';
import { run } from '../run.ts';

const HELP = `The resync of mysql-operator: posts an event to the function for each Mysql that is not provably settled, and for every one once an hour.

Options:
  --all                  post for every Mysql
  --help                 this text

Environment:
${resyncHelp()}

Exit code: 0 all delivered, 1 some not or the API server did not answer, 2 wrong usage.`;

async function main(): Promise<void> {
  const flags = readFlags(process.argv.slice(2), ['all', 'help']);
  if (flags.has('help')) {
    console.log(HELP);
    return;
  }
  const config = readResyncConfig(process.env);
  const log = createLog(config.logLevel);
  const clock = () => new Date();
  const started = performance.now();
  const cluster = new KubernetesClient({
    send: sender(await credentialsFor(config)),
    clock,
    instance: 'mysql-operator-resync',
  });
  const result = await resync(
    {
      ...config,
      cluster,
      clock,
      all: flags.has('all'),
      post: poster({ ...config, clock }),
      onUndelivered: (ref, why) => log.warn({ cluster: refKey(ref), why }, 'event not delivered'),
    },
    AbortSignal.timeout(config.deadline),
  );
  const seconds = Math.round(performance.now() - started) / 1_000;
  const peakMiB = Math.round(process.resourceUsage().maxRSS / 1_024);
  log.info({ ...result, seconds, peakMiB }, 'resync ended');
  // connections that are kept alive would keep the process too
  process.exit(result.undelivered > 0 ? 1 : 0);
}

run(main);
