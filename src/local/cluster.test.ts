/** The embedded cluster as the operator meets it: pods with servers in them, moved by a clock that only the test moves. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { ownedLabels } from '../resource/names.ts';
import { at, type Json, type JsonObject, textAt } from './api/json.ts';
import { EmbeddedCluster, type EmbeddedOptions } from './cluster.ts';
import { conditionOf, isReady, objectsAt } from './controllers/objects.ts';
import { keepIn, restoreFrom } from './data-file.ts';
import type { Server } from './group/server.ts';

const folder = mkdtempSync(join(tmpdir(), 'embedded-'));
after(() => rmSync(folder, { recursive: true }));

const START = Date.parse('2026-01-01T00:00:00Z');

/** A StatefulSet as the operator makes it for a Mysql `db` of three members. */
const aSet = ({ image = 'mysql:8.4', storageClassName, nodeSelector }: Record<string, Json> = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db', namespace: 'default' },
  spec: {
    replicas: 3,
    serviceName: 'db-nodes',
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'OnDelete' },
    selector: { matchLabels: { app: 'mysql' } },
    template: {
      metadata: { labels: ownedLabels('db') },
      spec: { containers: [{ name: 'mysqld', image }], ...(nodeSelector ? { nodeSelector } : {}) },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: {
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Gi' } },
          ...(storageClassName ? { storageClassName } : {}),
        },
      },
    ],
  },
});

function aCluster(options: EmbeddedOptions = {}) {
  let now = START;
  const cluster = new EmbeddedCluster({ clock: () => new Date(now), ...options });
  const { api, model } = cluster;
  const kinds = { pod: api.kindOf('v1', 'Pod'), claim: api.kindOf('v1', 'PersistentVolumeClaim') };
  const pod = (ordinal: number): JsonObject => api.get(kinds.pod, 'default', `db-${ordinal}`);
  const server = (ordinal: number): Server => model.server('default', `db-${ordinal}`) ?? assert.fail();
  const pass = (milliseconds: number) => {
    now += milliseconds;
    cluster.settle();
  };
  const apply = (object: object) => {
    cluster.applyYaml(JSON.stringify(object));
    cluster.settle();
  };
  const claims = () => api.list(kinds.claim, 'default');
  const pods = () => [0, 1, 2].map(pod);
  const remove = (kind: keyof typeof kinds, name: string, gracePeriodSeconds?: number) =>
    api.delete(kinds[kind], 'default', name, gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds });
  return { cluster, model, pod, pods, server, claims, pass, apply, remove };
}

/** db-0 the primary, all of them ONLINE. */
function aGroup() {
  const world = aCluster();
  world.apply(aSet());
  world.pass(world.model.times.start);
  world.model.bootstrap(world.server(0));
  for (const ordinal of [1, 2]) world.model.join(world.server(ordinal), [world.server(0).host]);
  world.pass(world.model.times.recover);
  return world;
}

describe('a pod', () => {
  test('runs a server of its image on its claim, under its own address and stable host name', () => {
    const { apply, pod, pods, server, claims } = aCluster();
    apply(aSet());
    assert.equal(new Set(pods().map((one) => textAt(one, 'status', 'podIP'))).size, 3);
    assert.equal(server(1).address, textAt(pod(1), 'status', 'podIP'));
    assert.equal(server(1).host, 'db-1.db-nodes.default.svc');
    assert.equal(server(1).version, '8.4.0');
    assert.deepEqual(
      claims().map((claim) => [textAt(claim, 'status', 'phase'), at(claim, 'status', 'capacity')]),
      Array(3).fill(['Bound', { storage: '1Gi' }]),
    );
  });

  test('is ready while its server is ONLINE and answers', () => {
    const { model, pod, server, pass } = aGroup();
    assert.equal(isReady(pod(2)), true);
    assert.equal(conditionOf(pod(2), 'Ready')?.lastTransitionTime, '2026-01-01T00:00:03Z');
    model.hang(server(2));
    pass(1_000);
    assert.equal(isReady(pod(2)), false);
    model.hang(server(2), false);
    pass(1_000);
    assert.equal(isReady(pod(2)), true);
    model.leave(server(2));
    pass(0);
    assert.equal(isReady(pod(2)), false);
  });

  test('that is deleted leaves its group in good order, so that another primary is there at once', () => {
    const { pod, pods, server, pass, remove } = aGroup();
    const uid = textAt(pod(0), 'metadata', 'uid');
    remove('pod', 'db-0');
    pass(0);
    assert.notEqual(textAt(pod(0), 'metadata', 'uid'), uid);
    assert.deepEqual([1, 2].map((ordinal) => server(ordinal).role).sort(), ['PRIMARY', 'SECONDARY']);
    assert.equal(server(1).view?.members.length, 2);
    assert.equal(pods().filter(isReady).length, 2);
  });

  test('that is deleted by force is gone without a word: its group notices in its own time', () => {
    const { model, server, pass, remove } = aGroup();
    remove('pod', 'db-0', 0);
    pass(0);
    assert.equal(server(1).view?.members.length, 3);
    pass(model.times.expel);
    assert.equal(server(1).view?.members.length, 2);
  });

  test('that comes back has the data of its claim; with another claim it is another server', () => {
    const { server, pass, remove } = aGroup();
    const uuid = server(2).volume.uuid;
    remove('pod', 'db-2');
    pass(0);
    assert.equal(server(2).volume.uuid, uuid);
    remove('claim', 'data-db-2');
    pass(0);
    assert.equal(server(2).volume.uuid, uuid);
    remove('pod', 'db-2');
    pass(0);
    assert.notEqual(server(2).volume.uuid, uuid);
  });

  test('whose image cannot be pulled says so, has no server, and can be deleted', () => {
    const { cluster, apply, pod, pods, model, pass } = aCluster();
    apply(aSet({ image: 'mysql:missing' }));
    const [container] = objectsAt(pod(0), 'status', 'containerStatuses');
    assert.equal(textAt(container, 'state', 'waiting', 'reason'), 'ImagePullBackOff');
    assert.deepEqual([textAt(pod(0), 'status', 'phase'), isReady(pod(0))], ['Pending', false]);
    assert.deepEqual(model.clusterOf('default', 'db'), []);
    const sets = cluster.api.kindOf('apps/v1', 'StatefulSet');
    cluster.api.delete(sets, 'default', 'db');
    pass(0);
    assert.throws(pods, { reason: 'NotFound' });
  });

  test('that no node fits, or whose volume does not come, is not scheduled until that changes', () => {
    const { apply, pod, pass, remove } = aCluster();
    apply(aSet({ nodeSelector: { disk: 'fast' } }));
    assert.deepEqual(
      [conditionOf(pod(0), 'PodScheduled')?.status, conditionOf(pod(0), 'PodScheduled')?.reason],
      ['False', 'Unschedulable'],
    );
    apply(aSet());
    remove('pod', 'db-0');
    pass(0);
    assert.equal(conditionOf(pod(0), 'PodScheduled')?.status, 'True');

    const other = aCluster();
    other.apply(aSet({ storageClassName: 'missing' }));
    assert.equal(textAt(other.claims()[0], 'status', 'phase'), 'Pending');
    assert.match(String(conditionOf(other.pod(0), 'PodScheduled')?.message), /unbound immediate/);
  });

  test('of anybody else just runs', () => {
    const { apply, cluster } = aCluster();
    apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web' },
      spec: {
        containers: [
          { name: 'a', image: 'web' },
          { name: 'b', image: 'proxy' },
        ],
      },
    });
    const pod = cluster.api.get(cluster.api.kindOf('v1', 'Pod'), 'default', 'web');
    assert.equal(isReady(pod), true);
    assert.deepEqual(
      objectsAt(pod, 'status', 'containerStatuses').map(({ name, ready }) => [name, ready]),
      [
        ['a', true],
        ['b', true],
      ],
    );
  });
});

describe('a data file', () => {
  test('brings objects, addresses and data back; the servers start again, as after an outage', () => {
    const file = join(folder, 'cluster.json');
    const before = aGroup();
    before.model.write(before.server(0), 'aaaaaaaa-0000-4000-8000-000000000000');
    keepIn(file, before.cluster)();
    const after = aCluster(restoreFrom(file));
    after.pass(after.model.times.start);
    for (const ordinal of [0, 1, 2]) {
      assert.equal(
        textAt(after.pod(ordinal), 'metadata', 'uid'),
        textAt(before.pod(ordinal), 'metadata', 'uid'),
      );
      assert.equal(after.server(ordinal).address, before.server(ordinal).address);
      assert.deepEqual(after.server(ordinal).volume, before.server(ordinal).volume);
      assert.equal(after.server(ordinal).state, 'OFFLINE');
    }
    after.remove('pod', 'db-0');
    after.pass(0);
    assert.equal(new Set(after.pods().map((pod) => textAt(pod, 'status', 'podIP'))).size, 3);
  });

  test('that is not there yet is an empty cluster, and one that is none is named', () => {
    assert.deepEqual(restoreFrom(join(folder, 'absent.json')).volumes, {});
    const file = join(folder, 'bad.json');
    writeFileSync(file, '{');
    assert.throws(() => restoreFrom(file), new RegExp(`${file} holds no embedded cluster: .*Remove it`));
  });
});
