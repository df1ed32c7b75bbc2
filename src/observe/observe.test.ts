import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { API_VERSION, secretName, selectorLabels } from '../resource/names.ts';
import { aSettledStage, aStage, REF, type Stage, signal } from '../testing.ts';
import { observe } from './observe.ts';

const look = ({ ports }: Stage) => observe(REF, ports, signal());
const paths = ({ requests }: Stage) => requests.map(({ method, path }) => `${method} ${path}`);

describe('there is nothing to see', () => {
  test('of a Mysql that does not exist, which costs one request', async () => {
    await using stage = await aStage();
    assert.equal(await look(stage), undefined);
    assert.equal(stage.requests.length, 1);
  });

  test('of a Mysql that is being deleted', async () => {
    await using stage = await aStage();
    stage.cluster.applyYaml(
      JSON.stringify({
        apiVersion: API_VERSION,
        kind: 'Mysql',
        metadata: { ...REF, finalizers: ['example.com/of-somebody'] },
        spec: { size: 3, image: 'mysql:8.4' },
      }),
    );
    assert.ok(await look(stage));
    stage.cluster.api.delete(stage.cluster.api.kindOf(API_VERSION, 'Mysql'), REF.namespace, REF.name);
    assert.equal(await look(stage), undefined);
  });
});

describe('a settled cluster', () => {
  test('is seen whole: children, pods, volumes, members, accounts', async () => {
    await using stage = await aSettledStage();
    const observed = await look(stage);
    assert.deepEqual(
      Object.entries(observed?.children ?? {}).map(([child, object]) => [child, object?.metadata?.name]),
      [
        ['statefulSet', 'db'],
        ['primaryService', 'db'],
        ['readService', 'db-read'],
        ['nodesService', 'db-nodes'],
        ['secret', 'db-credentials'],
        ['configMap', 'db-config'],
        ['disruptionBudget', 'db'],
      ],
    );
    assert.deepEqual(
      observed?.pods.map((pod) => pod.metadata?.name),
      ['db-0', 'db-1', 'db-2'],
    );
    assert.deepEqual(
      observed?.claims.map((claim) => claim.metadata?.name),
      ['data-db-0', 'data-db-1', 'data-db-2'],
    );
    assert.deepEqual(
      observed?.reports.map((report) => report.answered && [report.name, report.state]),
      [
        ['db-0', 'ONLINE'],
        ['db-1', 'ONLINE'],
        ['db-2', 'ONLINE'],
      ],
    );
    assert.equal(observed?.access?.operator.password, 'password-1');
    assert.equal(observed?.creationTrouble, undefined);
    assert.deepEqual(observed?.at, stage.ports.clock());
  });

  test('costs eight reads, and after the first they are all on their way before one is answered', async () => {
    await using stage = await aSettledStage();
    const all = Promise.withResolvers<undefined>();
    stage.intercept = () => {
      if (stage.requests.length === 1) return undefined;
      if (stage.requests.length === 8) all.resolve(undefined);
      return all.promise;
    };
    await look(stage);
    assert.equal(stage.requests.length, 8);
    assert.ok(paths(stage).every((path) => path.startsWith('GET ')));
  });
});

test('pods that carry our labels and belong to another set, or to nobody, are not members', async () => {
  await using stage = await aSettledStage();
  const labels = selectorLabels(REF.name);
  const { api } = stage.cluster;
  const kind = api.kindOf('v1', 'Pod');
  const owner = { ...stage.live('Pod', 'db-0').metadata.ownerReferences[0], uid: 'another' };
  api.create(kind, REF.namespace, { metadata: { name: 'db-7', labels } });
  api.create(kind, REF.namespace, { metadata: { name: 'db-8', labels, ownerReferences: [owner] } });
  const observed = await look(stage);
  assert.equal(observed?.pods.length, 3);
});

test('a Service of our name without our labels is found all the same', async () => {
  await using stage = await aSettledStage();
  const { api } = stage.cluster;
  const kind = api.kindOf('v1', 'Service');
  api.delete(kind, REF.namespace, 'db-read');
  api.create(kind, REF.namespace, { metadata: { name: 'db-read' }, spec: { ports: [{ port: 80 }] } });
  const observed = await look(stage);
  assert.deepEqual(observed?.children.readService?.spec?.ports?.[0]?.port, 80);
  assert.equal(stage.requests.length, 9);
});

test('while the Secret is incomplete no member is asked', async () => {
  await using stage = await aSettledStage();
  const { api } = stage.cluster;
  api.delete(api.kindOf('v1', 'Secret'), REF.namespace, secretName(REF.name));
  const observed = await look(stage);
  assert.equal(observed?.access, undefined);
  assert.deepEqual(
    observed?.reports.map((report) => report.answered),
    [false, false, false],
  );
});

describe('why a pod cannot be created', () => {
  const quota = (pods: string) => ({
    metadata: { name: 'few' },
    spec: { hard: { pods } },
  });

  test('is what the newest Event of the StatefulSet says, and asked for only while pods are missing', async () => {
    await using stage = await aStage();
    const { api } = stage.cluster;
    api.create(api.kindOf('v1', 'ResourceQuota'), REF.namespace, quota('2'));
    stage.apply();
    await stage.pass();
    const observed = await look(stage);
    assert.equal(observed?.pods.length, 2);
    assert.match(observed?.creationTrouble ?? '', /exceeded quota: few/);

    api.update(api.kindOf('v1', 'ResourceQuota'), REF.namespace, 'few', quota('9'));
    stage.cluster.settle();
    stage.requests.length = 0;
    assert.equal((await look(stage))?.creationTrouble, undefined);
    assert.ok(!paths(stage).some((path) => path.endsWith('/events')));
  });

  test('is no longer told once something newer happened', async () => {
    await using stage = await aStage();
    const { api } = stage.cluster;
    api.create(api.kindOf('v1', 'ResourceQuota'), REF.namespace, quota('2'));
    stage.apply();
    await stage.pass();
    const set = stage.live('StatefulSet');
    stage.advance(1_000);
    api.create(api.kindOf('v1', 'Event'), REF.namespace, {
      metadata: { name: 'db.newer' },
      involvedObject: { kind: 'StatefulSet', name: 'db', namespace: 'default', uid: set.metadata.uid },
      type: 'Normal',
      reason: 'SuccessfulCreate',
      lastTimestamp: stage.ports.clock().toISOString(),
    });
    assert.equal((await look(stage))?.creationTrouble, undefined);
  });

  test('is not taken from an earlier StatefulSet of the same name', async () => {
    await using stage = await aStage();
    const { api } = stage.cluster;
    stage.apply();
    await stage.pass();
    api.create(api.kindOf('v1', 'Event'), REF.namespace, {
      metadata: { name: 'db.earlier' },
      involvedObject: { kind: 'StatefulSet', name: 'db', namespace: 'default', uid: 'earlier' },
      type: 'Warning',
      message: 'exceeded quota',
      lastTimestamp: stage.ports.clock().toISOString(),
    });
    stage.apply({ size: 5 });
    stage.intercept = ({ method, path }) =>
      method === 'GET' && path.endsWith('/pods')
        ? { status: 200, body: { kind: 'PodList', metadata: {}, items: [] } }
        : undefined;
    assert.equal((await look(stage))?.creationTrouble, undefined);
    assert.ok(paths(stage).some((path) => path.endsWith('/events')));
  });
});
