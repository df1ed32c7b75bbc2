/** The roles in knative/base against what is really asked of the API server: nothing is missing, nothing is superfluous. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import { newPassword } from '../functions/reconcile/function.ts';
import { KubernetesClient } from '../src/kubernetes/client.ts';
import { type Request, type Send, sender } from '../src/kubernetes/request.ts';
import type { JsonObject } from '../src/local/api/json.ts';
import { type ApiServer, serveApi } from '../src/local/api/server.ts';
import { EmbeddedCluster } from '../src/local/cluster.ts';
import { reconcile } from '../src/reconcile.ts';
import { resync } from '../src/resync/resync.ts';
import { mysqlYaml } from './function/world.ts';

interface Manifest {
  readonly kind: string;
  readonly rules?: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
  readonly spec?: { readonly resources?: readonly { readonly apiVersion: string; readonly kind: string }[] };
}

const manifests = (file: string): Manifest[] =>
  parseAllDocuments(readFileSync(new URL(`../knative/base/${file}`, import.meta.url), 'utf8')).map(
    (document) => document.toJS() as Manifest,
  );

/** `group/resource verb` for each thing that the roles of a file allow. */
const allowed = (file: string): string[] =>
  manifests(file)
    .flatMap(({ rules = [] }) => rules)
    .flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => `${group}/${resource} ${verb}`)),
      ),
    )
    .sort();

const PATH =
  /^\/apis?\/(?:(?<group>[^/]+)\/)?v\w+(?:\/namespaces\/[^/]+)?\/(?<resource>[^/]+)(?:\/(?<name>[^/]+))?(?<sub>\/\w+)?$/;

/** What the API server's authorizer is asked for one request (Kubernetes: authorization, request verbs). */
function needed({ method, path, body }: Request): string[] {
  const { group = '', resource, name, sub = '' } = PATH.exec(path)?.groups ?? {};
  const what = `${group}/${resource}${sub}`;
  switch (method) {
    case 'GET':
      return [`${what} ${name ? 'get' : 'list'}`];
    case 'POST':
      return [`${what} create`];
    case 'DELETE':
      return [`${what} delete`];
    case 'PATCH': {
      const { metadata } = body as { readonly metadata?: { readonly uid?: string } };
      // an apply of something that is not there yet needs create too
      return metadata?.uid ? [`${what} patch`] : [`${what} patch`, `${what} create`];
    }
    default:
      return method satisfies never;
  }
}

let cluster: EmbeddedCluster;
let api: ApiServer;
before(async () => {
  cluster = new EmbeddedCluster({ speed: 200 });
  cluster.installCrd();
  api = await serveApi(cluster.api);
});
after(() => api.close());

const clock = () => new Date();

/** A client of the API server and the permissions that it needed so far. */
function aClient() {
  const used = new Set<string>();
  const plain = sender({ server: new URL(api.url), options: async () => ({}) });
  const send: Send = (request, signal) => {
    for (const one of needed(request)) used.add(one);
    return plain(request, signal);
  };
  return { used, client: new KubernetesClient({ send, clock, instance: 'test' }) };
}

test('the function may do what it does in the life of a cluster, and nothing else', async () => {
  const { used, client } = aClient();
  const settings = { nudgeUrl: 'http://function/', scripts: {}, newPassword };
  const ref = { namespace: 'default', name: 'a' };
  const signal = AbortSignal.timeout(60_000);
  const converge = async () => {
    for (;;) {
      const pass = await reconcile(
        ref,
        { cluster: client, members: cluster.members, clock, settings },
        signal,
      );
      cluster.settle();
      if (pass.state === 'Healthy' && !pass.again) return;
      signal.throwIfAborted();
      await pause(5);
    }
  };
  const change = async (spec: string) => {
    cluster.applyYaml(mysqlYaml('a', spec));
    cluster.settle();
    await converge();
  };
  await change('{ size: 3, image: "mysql:8.4" }');
  // a rollout deletes pods, a larger volume is a patch of each claim
  await change('{ size: 3, image: "mysql:9.0", storage: { size: 20Gi } }');
  const merge = (apiVersion: string, kind: string, name: string, body: JsonObject) =>
    cluster.api.patch(cluster.api.kindOf(apiVersion, kind), 'default', name, 'merge', body, {
      manager: 'kubectl',
    });
  // an annotation that did its work is taken away
  merge('example.com/v1alpha1', 'Mysql', 'a', {
    metadata: { annotations: { 'mysql.example.com/rebuild': 'a-0' } },
  });
  // a key that a Secret lost is filled in
  merge('v1', 'Secret', 'a-credentials', { data: { 'root-password': null } });
  // why a pod is not made is told by the Events of its StatefulSet
  cluster.api.delete(cluster.api.kindOf('v1', 'Pod'), 'default', 'a-2', { gracePeriodSeconds: 0 });
  await converge();
  assert.deepEqual([...used].sort(), allowed('function-rbac.yaml'));
});

test('the resync may list, and nothing else', async () => {
  const { used, client } = aClient();
  cluster.applyYaml(mysqlYaml('b'));
  const options = { period: 5, concurrency: 1, all: true, onUndelivered: () => assert.fail() };
  const post = async () => undefined;
  await resync({ ...options, cluster: client, clock, post }, AbortSignal.timeout(10_000));
  assert.deepEqual([...used].sort(), allowed('resync-rbac.yaml'));
});

test('the source may watch the kinds that it forwards, and nothing else', () => {
  const [source] = manifests('source.yaml');
  const verbs = ['get', 'list', 'watch'];
  const kinds = source?.spec?.resources ?? assert.fail();
  const wanted = kinds.flatMap(({ apiVersion, kind }) => {
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
    return verbs.map((verb) => `${group}/${kind.toLowerCase()}s ${verb}`);
  });
  assert.deepEqual(allowed('source-rbac.yaml'), wanted.sort());
});
