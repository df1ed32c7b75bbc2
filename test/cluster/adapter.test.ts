/**
 * The embedded cluster's forwarder beside Knative's real adapter: the same changes give the same requests, with the same headers and
 * bodies, in the same order for each kind, tried as often for each answer.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { kubeconfigCredentials } from '../../src/kubernetes/credentials.ts';
import { type Request, sender } from '../../src/kubernetes/request.ts';
import { serveApi } from '../../src/local/api/server.ts';
import { EmbeddedCluster } from '../../src/local/cluster.ts';
import { Forwarder } from '../../src/local/forwarder.ts';
import { eventually } from './kubectl.ts';
import { suite } from './names.ts';
import { scaleAdapter } from './operator.ts';
import { type Story, story } from './story.ts';

type Send = (request: Request) => Promise<unknown>;

const RETRIED = [404, 413, 425, 429, 502, 503, 504];
const DROPPED = [400, 401, 403, 405, 408, 409, 410, 415, 422, 500, 501, 505];
const LAST = 'z-last';

/** Everything that a client may do to Mysqls and pods that an adapter would tell of. */
async function changeThings(send: Send, namespace: string): Promise<void> {
  const core = `/api/v1/namespaces/${namespace}`;
  const mysqls = `/apis/example.com/v1alpha1/namespaces/${namespace}/mysqls`;
  const merge = (path: string, body: object) =>
    send({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
  const mysql = (name: string, metadata: object = {}) =>
    send({
      method: 'POST',
      path: mysqls,
      body: {
        apiVersion: 'example.com/v1alpha1',
        kind: 'Mysql',
        metadata: { name, ...metadata },
        spec: { size: 1, image: 'x' },
      },
    });
  const pod = (name: string, labels: object) =>
    send({
      method: 'POST',
      path: `${core}/pods`,
      body: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, labels },
        // nobody starts it
        spec: { containers: [{ name: 'c', image: 'x' }], schedulingGates: [{ name: 'example.com/never' }] },
      },
    });
  await mysql('a');
  await merge(`${mysqls}/a`, { spec: { size: 2 } });
  await merge(`${mysqls}/a/status`, { status: { nodes: ['a-0'] } });
  await send({ method: 'DELETE', path: `${mysqls}/a` });
  await mysql('kept', { finalizers: ['example.com/hold'] });
  await send({ method: 'DELETE', path: `${mysqls}/kept` });
  await merge(`${mysqls}/kept`, { metadata: { finalizers: null } });

  await pod('p', { app: 'mysql' });
  await merge(`${core}/pods/p`, { metadata: { annotations: { a: '1' } } });
  await merge(`${core}/pods/p`, { metadata: { labels: { app: 'other' } } });
  await merge(`${core}/pods/p`, { metadata: { labels: { app: 'mysql' } } });
  await send({ method: 'DELETE', path: `${core}/pods/p` });
  await pod('not-ours', { app: 'other' });

  for (const status of [...DROPPED, ...RETRIED]) await mysql(`s${status}`);
  await mysql(LAST);
}

interface Recorded {
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

const nameIn = ({ rawHeaders }: Recorded) => rawHeaders[rawHeaders.indexOf('Ce-Name') + 1];
const CHANGING = new Set(['Host', 'Ce-Id', 'Ce-Time', 'Ce-Source', 'Content-Length']);
const FORMS: Readonly<Record<string, RegExp>> = {
  'Ce-Id': /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  'Ce-Time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/,
  'Ce-Source': /^https?:\/\/[^/]+$/,
};

/** One entry an event of one kind, in order: what was sent, and how often. */
function told(all: readonly Recorded[], kind: string, namespace: string) {
  const events: { key: string; tries: number; sent: unknown }[] = [];
  for (const { rawHeaders, body } of all) {
    const headers = new Map<string, string>();
    for (let at = 0; at < rawHeaders.length; at += 2)
      headers.set(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
    if (headers.get('Ce-Kind') !== kind) continue;
    for (const [name, form] of Object.entries(FORMS)) assert.match(headers.get(name) ?? '', form);
    assert.equal(headers.get('Content-Length'), `${Buffer.byteLength(body)}`);
    const key = headers.get('Ce-Id') ?? '';
    const last = events.at(-1);
    if (last?.key === key) {
      last.tries += 1;
      continue;
    }
    const same = [...headers].map(([name, value]) => [
      name,
      CHANGING.has(name) ? '*' : value.replaceAll(namespace, 'NS'),
    ]);
    events.push({
      key,
      tries: 1,
      sent: { headers: Object.fromEntries(same), body: body.replaceAll(namespace, 'NS') },
    });
  }
  return events.map(({ tries, sent }) => ({ tries, sent }));
}

const RECORDER = new URL('recorder.cjs', import.meta.url);

async function throughForwarder(): Promise<Recorded[]> {
  await using cleanup = new AsyncDisposableStack();
  const recorded: Recorded[] = [];
  const child = spawn(process.execPath, [RECORDER.pathname], { env: { PORT: '0', HOST: '127.0.0.1' } });
  cleanup.defer(() => void child.kill());
  const { promise: port, resolve } = Promise.withResolvers<number>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const entry = JSON.parse(line);
    if (entry.listening) resolve(entry.listening);
    else recorded.push(entry);
  });
  const cluster = new EmbeddedCluster();
  cluster.installCrd();
  // the pods of this story are on no node: nobody ends them gracefully
  cluster.api.nodePresent = false;
  const api = await serveApi(cluster.api);
  cleanup.defer(() => api.close());
  const forwarder = new Forwarder({
    api: cluster.api,
    source: api.url,
    sink: `http://127.0.0.1:${await port}/hook`,
    namespace: 'default',
    resources: [
      { kind: cluster.api.kindOf('example.com/v1alpha1', 'Mysql') },
      { kind: cluster.api.kindOf('v1', 'Pod'), labelSelector: 'app=mysql' },
    ],
  });
  cleanup.defer(() => forwarder.stop());
  const send = sender({ server: new URL(api.url), options: async () => ({}) });
  await changeThings((request) => send(request, AbortSignal.timeout(10_000)), 'default');
  await eventually('the forwarder has told all', 90, async () => forwarder.pending === 0);
  return recorded;
}

async function throughAdapter(at: Story): Promise<Recorded[]> {
  const metadata = { name: 'recorder', labels: { app: 'recorder' } };
  const subject = { kind: 'ServiceAccount', name: 'recorder', namespace: at.namespace };
  const restricted = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  };
  await at.apply(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'mysql-operator-source' },
      subjects: [subject],
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { 'recorder.cjs': readFileSync(RECORDER, 'utf8') },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: {
        containers: [
          {
            name: 'recorder',
            image: suite().image,
            imagePullPolicy: 'IfNotPresent',
            command: ['node', '/recorder/recorder.cjs'],
            readinessProbe: { httpGet: { port: 8080 }, periodSeconds: 1 },
            volumeMounts: [{ name: 'recorder', mountPath: '/recorder' }],
            securityContext: restricted,
          },
        ],
        volumes: [{ name: 'recorder', configMap: { name: 'recorder' } }],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { selector: { app: 'recorder' }, ports: [{ port: 80, targetPort: 8080 }] },
    },
    {
      apiVersion: 'sources.knative.dev/v1',
      kind: 'ApiServerSource',
      metadata,
      spec: {
        serviceAccountName: 'recorder',
        mode: 'Reference',
        resources: [
          { apiVersion: 'example.com/v1alpha1', kind: 'Mysql' },
          { apiVersion: 'v1', kind: 'Pod', selector: { matchLabels: { app: 'mysql' } } },
        ],
        sink: { uri: `http://recorder.${at.namespace}.svc.cluster.local/hook` },
      },
    },
  );
  await at.kubectl(
    'wait',
    '--for=condition=Ready',
    '--timeout=60s',
    'pod/recorder',
    'apiserversource/recorder',
  );
  const recorded = async () =>
    (await at.kubectl('logs', 'recorder'))
      .split('\n')
      .filter((line) => line.includes('rawHeaders'))
      .map((line) => JSON.parse(line) as Recorded);
  // what exists when the adapter starts, or is made just before its watch, gives no event
  let probes = 0;
  await eventually('the adapter tells of changes', 60, async () => {
    probes += 1;
    await at.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `probe-${probes}`, labels: { app: 'mysql' } },
      spec: {
        containers: [{ name: 'c', image: 'x' }],
        schedulingGates: [{ name: 'example.com/never' }],
      },
    });
    return (await recorded()).length > 0;
  });
  const send = sender(await kubeconfigCredentials(process.env.KUBECONFIG));
  await changeThings((request) => send(request, AbortSignal.timeout(10_000)), at.namespace);
  await eventually('the adapter has told all', 90, async () =>
    (await recorded()).some((one) => nameIn(one) === LAST),
  );
  return (await recorded()).filter((one) => !nameIn(one)?.startsWith('probe-'));
}

story('the forwarder sends what the real adapter sends', async (at) => {
  // the function, were it to hear of this, would write statuses that the embedded cluster does not see
  await scaleAdapter(0);
  const [real, ours] = await Promise.all([throughAdapter(at), throughForwarder()]).finally(() =>
    scaleAdapter(1),
  );
  for (const kind of ['Mysql', 'Pod']) {
    const expected = told(real, kind, at.namespace);
    assert.ok(expected.length >= 5, JSON.stringify(expected));
    assert.deepEqual(told(ours, kind, 'default'), expected);
  }
  // and it is what the contract of the function rests on
  const tries = Object.fromEntries(
    told(real, 'Mysql', at.namespace).map(({ tries, sent }) => [
      (sent as { headers: Record<string, string> }).headers['Ce-Name'],
      tries,
    ]),
  );
  for (const status of RETRIED) assert.equal(tries[`s${status}`], 6, `${status}`);
  for (const status of DROPPED) assert.equal(tries[`s${status}`], 1, `${status}`);
});
