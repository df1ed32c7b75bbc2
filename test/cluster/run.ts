/**
 * `npm run test:cluster` and `npm run test:mysql`: installs the operator on a real cluster with Knative, tells the stories, and takes it
 * away again.
 */
import { spawn } from 'node:child_process';
import { globSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { collectLog } from './function-log.ts';
import { eventually, KubectlFailed, kubectl } from './kubectl.ts';
import { NAMESPACE, type Suite, TEST_LABEL } from './names.ts';
import { buildImage, install, writeOverlay } from './operator.ts';

const HELP = `npm run test:cluster -- [options]

Runs the end-to-end stories on a cluster with Knative Serving and Eventing. Installs the operator into the namespace ${NAMESPACE}, uses
namespaces of its own for everything else, and removes both at the end.

  --kubeconfig FILE     the cluster (KUBECONFIG)
  --image NAME          image of the function that the nodes can get; without it one is built and loaded by the command in
                        CLUSTER_LOAD, which gets the archive as its argument (for example: kind load image-archive)
  --mysql-image NAME    image with MySQL that the nodes can get (mysql:8.4)
  --next-mysql-image NAME
                        another one, for the story of an upgrade
  --only NAME           stories of one file, for example wake; of the suite mysql, stories whose name begins so
  --suite NAME          cluster: the operator and Knative; mysql: faults of real MySQL servers (cluster)
  --rounds N            how often the suite mysql kills a primary (1)
  --retries N           tell a file with a failure up to N times more: machines are noisy, stories have deadlines (0)
  --keep                leave the operator installed, also over one that is there
  --help                this text

Faults that kubectl has no word for are done by commands of yours; stories that need one are skipped without it:
  CLUSTER_CUT, CLUSTER_HEAL   cut NAMESPACE/POD (the last argument) off from all other pods, and undo it
  CLUSTER_NODE                run its arguments as a command on the node, as root (a cluster of one node)`;

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Tests of what the embedded API promises too. */
const ANYWHERE = [
  'test/crd.test.ts',
  'test/kubectl.test.ts',
  ...['api', 'statefulset', 'schema', 'refusals'].map((name) => `test/contract/${name}.test.ts`),
];
const work = join(root, '.cache/cluster-suite');

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      kubeconfig: { type: 'string' },
      image: { type: 'string' },
      'mysql-image': { type: 'string', default: 'mysql:8.4' },
      'next-mysql-image': { type: 'string' },
      only: { type: 'string', default: '*' },
      suite: { type: 'string', default: 'cluster' },
      rounds: { type: 'string', default: '1' },
      retries: { type: 'string', default: '0' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  if (values.kubeconfig) process.env.KUBECONFIG = resolve(values.kubeconfig);
  const ofMysql = values.suite === 'mysql';
  const pattern = ofMysql ? 'test/mysql/*.test.ts' : `test/${values.suite}/${values.only}.test.ts`;
  const files = globSync(pattern, { cwd: root }).sort();
  if (values.only === '*' && !ofMysql) files.push(...ANYWHERE);
  if (files.length === 0) throw new Error(`there are no stories called ${values.only}`);
  await assertUsable(values.keep);
  mkdirSync(work, { recursive: true });
  const image = values.image ?? buildImage(work);
  const suite: Suite = {
    image,
    mysqlImage: values['mysql-image'],
    nextMysqlImage: values['next-mysql-image'],
    log: join(work, 'function.log'),
    overlay: writeOverlay(join(work, 'overlay'), image),
    dumps: join(work, 'failed'),
  };
  rmSync(suite.dumps, { recursive: true, force: true });
  progress(`installing ${image}`);
  await install(suite.overlay);
  const log = collectLog(suite.log);
  try {
    progress(`telling ${files.length} files of stories`);
    return await tell(files, suite, {
      rounds: values.rounds,
      retries: Number(values.retries),
      ...(ofMysql && values.only !== '*' ? { named: values.only } : {}),
    });
  } finally {
    await log.stop();
    await cleanUp(suite, values.keep);
  }
}

const started = performance.now();
const progress = (text: string): void =>
  console.log(`[${Math.round((performance.now() - started) / 1_000)}s] ${text}`);

async function assertUsable(keep: boolean): Promise<void> {
  const kinds = ['services.serving.knative.dev', 'apiserversources.sources.knative.dev'];
  await kubectl('get', 'crd', '-o', 'name', ...kinds);
  const active = ['get', 'namespace', '-l', TEST_LABEL, '--field-selector=status.phase=Active', '-o', 'name'];
  if ((await kubectl(...active)) !== '') {
    throw new Error(
      `another run is under way here, or ended halfway: then kubectl delete namespace -l ${TEST_LABEL}`,
    );
  }
  const foreign = await kubectl('get', 'mysql', '-A', '-o', 'name').catch(() => '');
  if (foreign !== '' && !keep) {
    throw new Error(
      'this cluster has Mysqls already, and taking the operator away would delete them: say --keep',
    );
  }
}

interface Telling {
  /** Only stories whose name begins so. */
  readonly named?: string;
  readonly rounds: string;
  /** How often a file with a failure is told once more. */
  readonly retries: number;
}

/** One file after the other: they disturb the operator that they share. 0 when all of them passed in the end. */
async function tell(files: readonly string[], suite: Suite, telling: Telling): Promise<number> {
  const failed: string[] = [];
  for (const file of files) {
    for (let told = 0; (await tellFile(file, suite, telling)) !== 0; told += 1) {
      if (told === telling.retries) {
        failed.push(file);
        break;
      }
      progress(`${file} failed: telling it once more`);
    }
  }
  progress(
    `${files.length - failed.length} of ${files.length} files passed${failed.length > 0 ? `; failed: ${failed.join(', ')}` : ''}`,
  );
  return failed.length > 0 ? 1 : 0;
}

function tellFile(file: string, suite: Suite, { named, rounds }: Telling): Promise<number> {
  const chosen = named ? [`--test-name-pattern=^${named}`] : [];
  const args = ['--test', '--test-reporter=spec', ...chosen, file];
  const env = {
    ...process.env,
    CLUSTER_SUITE: JSON.stringify(suite),
    ROUNDS: rounds,
    CONTRACT_KUBECONFIG: process.env.KUBECONFIG,
  };
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: 'inherit' });
  const stop = () => void child.kill();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  // also when this process falls over
  process.once('exit', stop);
  return new Promise((resolved) =>
    child.once('close', (code) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'exit']) process.off(signal, stop);
      resolved(code ?? 1);
    }),
  );
}

async function cleanUp({ overlay }: Suite, keep: boolean): Promise<void> {
  progress('cleaning up');
  await kubectl('delete', 'namespace', '-l', TEST_LABEL, '--wait=false');
  const left = () => kubectl('get', 'namespace', '-l', TEST_LABEL, '-o', 'name');
  await eventually('the namespaces of the stories are gone', 300, async () => (await left()) === '');
  if (!keep) await kubectl('delete', '-k', overlay, '--ignore-not-found', '--timeout=120s');
  progress('done');
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof KubectlFailed ? error.message : error);
    process.exit(1);
  },
);
