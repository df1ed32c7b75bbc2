import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { API_VERSION, LABEL } from './resource/names.ts';
import { aSettledStage, aStage, isWrite, REF, type Stage } from './testing.ts';

describe('a new Mysql', () => {
  test('becomes a cluster, and then nothing is written any more', async () => {
    await using stage = await aSettledStage();
    assert.deepEqual(stage.objects(), [
      'ConfigMap db-config',
      'PersistentVolumeClaim data-db-0',
      'PersistentVolumeClaim data-db-1',
      'PersistentVolumeClaim data-db-2',
      'Pod db-0',
      'Pod db-1',
      'Pod db-2',
      'PodDisruptionBudget db',
      'Secret db-credentials',
      'Service db',
      'Service db-nodes',
      'Service db-read',
      'StatefulSet db',
    ]);
    const { resourceVersion } = stage.live('Mysql').metadata;
    for (let hour = 0; hour < 5; hour += 1) {
      stage.advance(3_600_000);
      const pass = await stage.pass();
      assert.deepEqual([pass.state, pass.writes, pass.again], ['Healthy', 0, false]);
    }
    assert.equal(stage.requests.length, 5 * 8);
    assert.equal(stage.live('Mysql').metadata.resourceVersion, resourceVersion);
  });

  for (const size of [1, 2, 5]) {
    test(`of ${size} too`, async () => {
      await using stage = await aSettledStage({ size });
      assert.equal(stage.live('Mysql').status.nodes.length, size);
      assert.equal(stage.live('Pod', 'db-0').metadata.labels[LABEL.role], 'primary');
    });
  }

  test('of the oldest version too', async () => {
    await using stage = await aSettledStage({ image: 'mysql:5.7' });
    assert.equal(stage.live('Mysql').status.nodes.length, 3);
  });

  test('has its bootstrap recorded before any server is told to start a group', async () => {
    await using stage = await aStage();
    stage.apply();
    for (let passes = 0; passes < 20 && !stage.live('Mysql').status?.bootstrap; passes += 1) {
      assert.ok((await stage.pass()).again);
      stage.advance(500);
    }
    assert.equal(stage.live('Mysql').status.bootstrap.member, 'db-0');
    assert.ok([0, 1, 2].every((ordinal) => stage.server(ordinal).state === 'OFFLINE'));
    await stage.pass();
    assert.equal(stage.server(0).role, 'PRIMARY');
  });

  test('starts no group while the record cannot be written', async () => {
    await using stage = await aStage();
    stage.apply();
    stage.intercept = ({ path }) => (path.endsWith('/status') ? { status: 503 } : undefined);
    for (let passes = 0; passes < 10; passes += 1) {
      const pass = await stage.pass();
      assert.equal(pass.failure?.name, 'Retryable');
      stage.advance(500);
    }
    assert.ok([0, 1, 2].every((ordinal) => stage.server(ordinal).state === 'OFFLINE'));
  });
});

describe('a Mysql that is gone', () => {
  test('is nothing to do about', async () => {
    await using stage = await aStage();
    const pass = await stage.pass();
    assert.deepEqual(
      [pass.state, pass.writes, pass.again, pass.uid, pass.failure],
      ['Gone', 0, false, undefined, undefined],
    );
    assert.equal(stage.requests.length, 1);
  });

  const remove = ({ cluster }: Stage) => {
    cluster.api.delete(cluster.api.kindOf(API_VERSION, 'Mysql'), REF.namespace, REF.name);
    cluster.settle();
  };

  test('leaves volumes and passwords, which one of the same name finds again', async () => {
    await using stage = await aSettledStage();
    const { data } = stage.live('Secret', 'db-credentials');
    const groupName = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc';
    assert.ok(stage.cluster.model.write(stage.server(0), groupName));
    remove(stage);
    assert.equal((await stage.pass()).writes, 0);
    assert.deepEqual(stage.objects(), [
      'PersistentVolumeClaim data-db-0',
      'PersistentVolumeClaim data-db-1',
      'PersistentVolumeClaim data-db-2',
      'Secret db-credentials',
    ]);
    stage.apply();
    assert.equal((await stage.settled()).state, 'Healthy');
    assert.deepEqual(stage.live('Secret', 'db-credentials').data, data);
    assert.match(stage.live('Mysql').status.bootstrap.executed, new RegExp(groupName));
  });

  test('leaves nothing when that is asked for', async () => {
    await using stage = await aSettledStage({ storage: { whenDeleted: 'Delete' } });
    remove(stage);
    assert.deepEqual(stage.objects(), []);
  });

  test('leaves what was asked for last', async () => {
    await using stage = await aSettledStage({ storage: { whenDeleted: 'Delete' } });
    const { data } = stage.live('Secret', 'db-credentials');
    stage.apply({ storage: { whenDeleted: 'Retain' } });
    await stage.settled();
    remove(stage);
    assert.deepEqual(stage.live('Secret', 'db-credentials').data, data);
  });
});

test('a passing failure is asked to be tried again, before a refusal is', async () => {
  await using stage = await aStage();
  stage.apply();
  stage.intercept = (sent) => {
    if (isWrite(sent) && sent.path.endsWith('/configmaps/db-config')) return { status: 403 };
    if (isWrite(sent) && sent.path.endsWith('/services/db-read')) return { status: 500 };
    return undefined;
  };
  assert.equal((await stage.pass()).failure?.name, 'Retryable');
});

test('a Mysql that cannot be read is a failure of the pass, and nothing is written', async () => {
  await using stage = await aSettledStage();
  stage.intercept = ({ path }) => (path.endsWith('/pods') ? { status: 503 } : undefined);
  await assert.rejects(stage.pass(), { name: 'Retryable' });
  assert.ok(!stage.requests.some(isWrite));
});

test('somebody else’s object of our name is left alone, and the rest is made', async () => {
  await using stage = await aStage();
  const { api } = stage.cluster;
  const foreign = api.create(api.kindOf('v1', 'Service'), REF.namespace, {
    metadata: { name: 'db' },
    spec: { ports: [{ port: 80 }] },
  });
  stage.apply();
  assert.equal((await stage.settled()).state, 'NameConflict');
  assert.deepEqual(stage.live('Service'), foreign);
  assert.ok(stage.live('Service', 'db-read'));
});
