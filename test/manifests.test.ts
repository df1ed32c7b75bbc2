/** The manifests against the code that they deploy: what must agree in two places. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig, readResyncConfig } from '../src/config.ts';

// biome-ignore lint/suspicious/noExplicitAny: manifests of many kinds, looked into by assertions only
type Manifest = any;

const root = new URL('..', import.meta.url).pathname;
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8');
const all: Manifest[] = globSync('knative/base/*.yaml', { cwd: root }).flatMap((file) =>
  parseAllDocuments(read(file)).map((document) => document.toJS()),
);
const one = (kind: string): Manifest => all.find((manifest) => manifest.kind === kind) ?? assert.fail(kind);

const service = one('Service');
const source = one('ApiServerSource');
const cronJob = one('CronJob');
const job = cronJob.spec.jobTemplate.spec;
const container = service.spec.template.spec.containers[0];
const resyncContainer = job.template.spec.containers[0];
const address = `http://${service.metadata.name}.${service.metadata.namespace}.svc.cluster.local/`;

const resourcesOf = (folder: string): string[] => parse(read(`${folder}/kustomization.yaml`)).resources;

test('every file of the base is installed', () => {
  const files = globSync('*.yaml', { cwd: `${root}knative/base` });
  assert.deepEqual([...resourcesOf('knative/base'), 'kustomization.yaml'].sort(), files.sort());
});

test('the CRD is installed first, and is no part of what an uninstall takes away', () => {
  assert.deepEqual(resourcesOf('knative'), ['../crds', 'base']);
  assert.deepEqual(resourcesOf('knative/overlays/example'), ['../../../crds', '../../base']);
});

test('source, resync and members post to the function where it is', () => {
  assert.equal(readConfig({}, undefined).nudgeUrl, address);
  assert.equal(
    readConfig({ K_SERVICE: service.metadata.name }, service.metadata.namespace).nudgeUrl,
    address,
  );
  const sink = resyncContainer.env.find(({ name }: { name: string }) => name === 'K_SINK').value;
  assert.equal(sink, address);
  const { ref } = source.spec.sink;
  assert.deepEqual(
    [ref.kind, ref.name, ref.namespace],
    ['Service', service.metadata.name, service.metadata.namespace],
  );
});

test('the function listens where Knative expects it, and is told to end later than it drains', () => {
  const config = readConfig({}, undefined);
  assert.equal(container.ports[0].containerPort, config.port);
  assert.ok(service.spec.template.spec.timeoutSeconds * 1_000 > config.drainDeadline);
  assert.ok(service.spec.template.spec.timeoutSeconds * 1_000 > config.replyBudget);
  const window = Number.parseInt(
    service.spec.template.metadata.annotations['autoscaling.knative.dev/window'],
    10,
  );
  assert.ok(window * 1_000 > 10 * config.lookAgainAfter);
});

test('the resync runs as often as it believes, and ends before its Job is ended', () => {
  const config = readResyncConfig({ K_SINK: address });
  assert.equal(cronJob.spec.schedule, `*/${config.period} * * * *`);
  assert.ok(job.activeDeadlineSeconds * 1_000 > config.deadline);
  assert.ok(job.activeDeadlineSeconds < config.period * 60);
  assert.equal(cronJob.spec.concurrencyPolicy, 'Forbid');
});

test('both functions meet the restricted profile and may boot as quickly as the node lets them', () => {
  for (const { securityContext, resources, image } of [container, resyncContainer]) {
    assert.deepEqual(securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    });
    assert.deepEqual(Object.keys(resources.limits), ['memory']);
    assert.deepEqual(Object.keys(resources.requests).sort(), ['cpu', 'memory']);
    assert.equal(image, container.image);
  }
});

test('the heap ends before the container does', () => {
  for (const { env, resources } of [container, resyncContainer]) {
    const options = env.find(({ name }: { name: string }) => name === 'NODE_OPTIONS').value;
    const heap = Number(/--max-old-space-size=(\d+)/.exec(options)?.[1]);
    const limit = Number(/^(\d+)Mi$/.exec(resources.limits.memory)?.[1]);
    // measured: an empty Node server is 44 MiB, a fifth of it heap
    assert.ok(heap + 44 <= limit, `${heap} of ${limit}`);
  }
});

test('nothing keeps Knative from letting the first event in at once', () => {
  assert.deepEqual(container.readinessProbe, { httpGet: { path: '/healthz' } });
  assert.equal(container.startupProbe, undefined);
  assert.equal(service.spec.template.spec.containerConcurrency, 0);
  assert.equal(service.spec.template.metadata.annotations['autoscaling.knative.dev/min-scale'], '0');
});

test('each ServiceAccount that is used is there, and each that is there is used', () => {
  const there = all.filter(({ kind }) => kind === 'ServiceAccount').map(({ metadata }) => metadata.name);
  const used = [
    service.spec.template.spec.serviceAccountName,
    job.template.spec.serviceAccountName,
    source.spec.serviceAccountName,
  ];
  assert.deepEqual(used.sort(), there.sort());
});

test('npm run manifests renders all of it, or says what is missing', () => {
  const render = (env: Record<string, string | undefined>) =>
    execFileSync(process.execPath, ['knative/render.ts', '--output', '-'], {
      cwd: root,
      env,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  assert.throws(() => render({ PATH: '/nowhere' }), /kubectl is not on the PATH/);
  let text: string;
  try {
    text = render(process.env);
  } catch (error) {
    if (String(error).includes('kubectl is not on the PATH')) return;
    throw error;
  }
  const kinds = parseAllDocuments(text).map((document) => document.toJS().kind);
  assert.equal(kinds.length, all.filter(({ kind }) => kind !== 'Kustomization').length + 1);
  assert.ok(kinds.indexOf('CustomResourceDefinition') < kinds.indexOf('ApiServerSource'));
});
