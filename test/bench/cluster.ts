/** `npm run bench:cluster`: numbers from a real cluster with Knative, beside an empty service of the same Node image in the same run. */
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { eventually, kubectl, kubectlWith } from '../cluster/kubectl.ts';
import { FUNCTION_PODS, NAMESPACE, TEST_LABEL } from '../cluster/names.ts';
import { asleep, buildImage, functionPods, install, writeOverlay } from '../cluster/operator.ts';
import { lightMysql } from '../cluster/samples.ts';
import { wireTo } from '../contract/http.ts';
import { type Spread, spreadOf } from './spread.ts';

const HELP = `npm run bench:cluster -- [options]

Measures on a cluster with Knative: the function woken from zero and warm, how long its pod stays, and memory. Installs the operator
into the namespace ${NAMESPACE} and leaves it there.

  --kubeconfig FILE   the cluster (KUBECONFIG)
  --image NAME        as in npm run test:cluster
  --rounds N          (20)
  --json              one JSON object instead of a table
  --help              this text`;

const BENCH = 'bench-mysql-operator';
const EMPTY = 'empty';
const root = fileURLToPath(new URL('../..', import.meta.url));

interface Numbers {
  /** Milliseconds from the request that makes a Mysql to the first object that the function makes for it. */
  readonly coldEventToFirstWrite: Spread;
  readonly warmEventToFirstWrite: Spread;
  /** Milliseconds from a request to its answer, from inside the cluster, nothing running before. */
  readonly coldRequestToEmptyService: Spread;
  /** Seconds that the pod is there for one event. */
  readonly podStaysSeconds: Spread;
  /** MiB (working set), as kubelet accounts it. */
  readonly memory: Readonly<Record<string, number>>;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      kubeconfig: { type: 'string' },
      image: { type: 'string' },
      rounds: { type: 'string', default: '20' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  if (values.kubeconfig) process.env.KUBECONFIG = resolve(values.kubeconfig);
  const rounds = Number(values.rounds);
  const work = join(root, '.cache/cluster-suite');
  const image = values.image ?? buildImage(work);
  // standard output is for the result
  const tell = (text: string) => console.error(text);
  await install(writeOverlay(join(work, 'overlay'), image));
  await kubectlWith(JSON.stringify(benchObjects(image)), 'apply', '-f', '-');
  try {
    const wire = await wireTo(process.env.KUBECONFIG ?? '');
    const numbers = await measure(new Bench(wire), rounds, tell);
    console.log(values.json ? JSON.stringify(numbers) : table(numbers));
  } finally {
    await kubectl('delete', 'namespace', BENCH, '--wait=false');
  }
}

/** A namespace, a service that does nothing, and a pod from which requests are sent. */
function benchObjects(image: string) {
  const container = (script: string) => ({
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['node', '-e', script],
    resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '256Mi' } },
  });
  const metadata = (name: string, more: object = {}) => ({ name, namespace: BENCH, ...more });
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: BENCH, labels: { [TEST_LABEL]: '' } } },
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: metadata('client'),
        spec: { containers: [{ name: 'client', ...container('setInterval(() => {}, 1e9)') }] },
      },
      {
        apiVersion: 'serving.knative.dev/v1',
        kind: 'Service',
        metadata: metadata(EMPTY, { labels: { 'networking.knative.dev/visibility': 'cluster-local' } }),
        spec: {
          template: {
            metadata: {
              annotations: {
                'autoscaling.knative.dev/max-scale': '1',
                'autoscaling.knative.dev/window': '6s',
              },
            },
            spec: {
              containers: [
                {
                  name: 'function',
                  ...container(
                    // PID 1 is ended by no signal that it does not handle
                    'require("node:http").createServer((q, s) => s.writeHead(204).end()).listen(8080); process.on("SIGTERM", process.exit)',
                  ),
                  ports: [{ containerPort: 8080 }],
                  readinessProbe: { httpGet: { path: '/' } },
                },
              ],
            },
          },
        },
      },
    ],
  };
}

class Bench {
  readonly #wire: Awaited<ReturnType<typeof wireTo>>;
  #made = 0;

  constructor(wire: Awaited<ReturnType<typeof wireTo>>) {
    this.#wire = wire;
  }

  /** Milliseconds from making a Mysql to the first object made for it. */
  async eventToFirstWrite(): Promise<number> {
    this.#made += 1;
    const name = `bench-${process.pid}-${this.#made}`;
    const secrets = `/api/v1/namespaces/${BENCH}/secrets`;
    const { body: list } = await this.#wire.call('GET', secrets);
    // a Secret is the first of the owned objects
    const query = { resourceVersion: list.metadata.resourceVersion, timeoutSeconds: '120' };
    const watch = this.#wire.watch(secrets, query);
    const first = (async () => {
      for await (const { object } of watch)
        if (object.metadata.name === `${name}-credentials`) return performance.now();
      throw new Error(`nothing was made for ${name} within two minutes`);
    })();
    const made = performance.now();
    const path = `/apis/example.com/v1alpha1/namespaces/${BENCH}/mysqls`;
    const { status } = await this.#wire.call('POST', path, { body: lightMysql(name) });
    if (status !== 201) throw new Error(`making a Mysql was answered ${status}`);
    const at = await first;
    await watch.return(undefined);
    return at - made;
  }

  /** Milliseconds, by the clock of the pod that asks. */
  async requestToEmptyService(): Promise<number> {
    const url = `http://${EMPTY}.${BENCH}.svc.cluster.local/`;
    const script = `const at = performance.now(); fetch(${JSON.stringify(url)}).then(() => console.log(performance.now() - at))`;
    return Number(await kubectl('exec', '-n', BENCH, 'client', '--', 'node', '-e', script));
  }

  emptyAsleep(): Promise<true> {
    return eventually(
      'the empty service is at zero',
      180,
      async () => (await podsOf(BENCH, `serving.knative.dev/service=${EMPTY}`)).length === 0,
    );
  }
}

async function measure(bench: Bench, rounds: number, tell: (text: string) => void): Promise<Numbers> {
  await kubectl(
    'wait',
    '-n',
    BENCH,
    '--for=condition=Ready',
    '--timeout=120s',
    `ksvc/${EMPTY}`,
    'pod/client',
  );
  const cold: number[] = [];
  const empty: number[] = [];
  const stays: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    await asleep();
    await bench.emptyAsleep();
    cold.push(await bench.eventToFirstWrite());
    const up = performance.now();
    empty.push(await bench.requestToEmptyService());
    await asleep();
    stays.push((performance.now() - up) / 1_000);
    tell(
      `round ${round}: ${Math.round(cold.at(-1) ?? 0)} ms to the first write, empty service ${Math.round(empty.at(-1) ?? 0)} ms`,
    );
  }
  const rest = await memoryOf({ adapter: [NAMESPACE, 'eventing.knative.dev/sourceName=mysql-operator'] });
  await bench.eventToFirstWrite();
  const warm: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    await pause(500);
    warm.push(await bench.eventToFirstWrite());
  }
  await bench.requestToEmptyService();
  const work = await memoryOf({
    function: [NAMESPACE, FUNCTION_PODS],
    empty: [BENCH, `serving.knative.dev/service=${EMPTY}`],
    adapter: [NAMESPACE, 'eventing.knative.dev/sourceName=mysql-operator'],
  });
  tell(`pods of the function at the end: ${(await functionPods()).length}`);
  return {
    coldEventToFirstWrite: spreadOf(cold),
    warmEventToFirstWrite: spreadOf(warm),
    coldRequestToEmptyService: spreadOf(empty),
    podStaysSeconds: spreadOf(stays),
    memory: {
      ...Object.fromEntries(Object.entries(rest).map(([name, size]) => [`${name}, at rest`, size])),
      ...Object.fromEntries(Object.entries(work).map(([name, size]) => [`${name}, in work`, size])),
    },
  };
}

const podsOf = async (namespace: string, selector: string): Promise<string[]> =>
  (await kubectl('get', 'pods', '-n', namespace, '-l', selector, '-o', 'jsonpath={.items[*].metadata.name}'))
    .split(' ')
    .filter(Boolean);

interface Summary {
  readonly pods: readonly {
    readonly podRef: { readonly name: string; readonly namespace: string };
    readonly containers: readonly {
      readonly name: string;
      readonly memory?: { readonly workingSetBytes?: number };
    }[];
  }[];
}

/** MiB of each container in these pods. Kubelet looks every 10 s or so. */
async function memoryOf(
  what: Readonly<Record<string, readonly [namespace: string, selector: string]>>,
): Promise<Record<string, number>> {
  await pause(15_000);
  const nodes = (await kubectl('get', 'nodes', '-o', 'jsonpath={.items[*].metadata.name}')).split(' ');
  const summaries = await Promise.all(
    nodes.map(
      async (node) =>
        JSON.parse(await kubectl('get', '--raw', `/api/v1/nodes/${node}/proxy/stats/summary`)) as Summary,
    ),
  );
  const sizes: Record<string, number> = {};
  for (const [label, [namespace, selector]] of Object.entries(what)) {
    const names = await podsOf(namespace, selector);
    const pods = summaries
      .flatMap(({ pods }) => pods)
      .filter(({ podRef }) => podRef.namespace === namespace && names.includes(podRef.name));
    for (const { name, memory } of pods.flatMap(({ containers }) => containers)) {
      sizes[`${label}: ${name}`] = Math.round((memory?.workingSetBytes ?? 0) / 2 ** 20);
    }
  }
  return sizes;
}

function table({ memory, ...times }: Numbers): string {
  const rows = Object.entries(times).map(([name, { median, p95, least, most, count }]) =>
    [
      name.padEnd(28),
      ...[median, p95, least, most].map((value) =>
        value.toFixed(name.endsWith('Seconds') ? 1 : 0).padStart(8),
      ),
      `${count}`.padStart(6),
    ].join(' '),
  );
  const sizes = Object.entries(memory).map(
    ([name, size]) => `${name.padEnd(44)} ${`${size}`.padStart(5)} MiB`,
  );
  return [
    '',
    `${''.padEnd(28)} ${['median', 'p95', 'least', 'most'].map((head) => head.padStart(8)).join(' ')}  count`,
    ...rows,
    '',
    ...sizes,
  ].join('\n');
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
