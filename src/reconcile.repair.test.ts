/** What persons do to a settled cluster, and what the next passes write because of it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LABEL } from './resource/names.ts';
import { aSettledStage, isWrite, REF, type Stage } from './testing.ts';

/** A settled cluster after a person's change: what is written, until there is nothing more to do. */
async function writesAfter(stage: Stage, change: () => void): Promise<string[]> {
  stage.requests.length = 0;
  change();
  assert.equal((await stage.settled()).state, 'Healthy');
  return stage.requests
    .filter(isWrite)
    .map(({ path }) => path)
    .filter((path) => !path.endsWith('/status') && !path.endsWith('/events'))
    .map((path) => path.split('/').slice(-2).join('/'));
}

describe('what a person did to the objects is undone with one write each:', () => {
  test('a deleted Service, ConfigMap or budget', async () => {
    await using stage = await aSettledStage();
    const { api } = stage.cluster;
    const writes = await writesAfter(stage, () => {
      api.delete(api.kindOf('v1', 'Service'), REF.namespace, 'db-read');
      api.delete(api.kindOf('v1', 'ConfigMap'), REF.namespace, 'db-config');
      api.delete(api.kindOf('policy/v1', 'PodDisruptionBudget'), REF.namespace, 'db');
    });
    assert.deepEqual(writes.sort(), ['configmaps/db-config', 'poddisruptionbudgets/db', 'services/db-read']);
  });

  test('a changed selector', async () => {
    await using stage = await aSettledStage();
    const { api } = stage.cluster;
    const writes = await writesAfter(stage, () => {
      api.patch(api.kindOf('v1', 'Service'), REF.namespace, 'db', 'merge', {
        spec: { selector: { app: 'other' } },
      });
    });
    assert.deepEqual(writes, ['services/db']);
    assert.equal(stage.live('Service').spec.selector.app, 'mysql');
  });

  test('and then looked at again', async () => {
    await using stage = await aSettledStage();
    const { api } = stage.cluster;
    api.delete(api.kindOf('v1', 'Service'), REF.namespace, 'db-read');
    const pass = await stage.pass();
    assert.deepEqual([pass.state, pass.writes, pass.again], ['Healthy', 1, true]);
    assert.equal((await stage.pass()).again, false);
  });

  test('a stripped role label', async () => {
    await using stage = await aSettledStage();
    const { api } = stage.cluster;
    const writes = await writesAfter(stage, () => {
      api.patch(api.kindOf('v1', 'Pod'), REF.namespace, 'db-0', 'merge', {
        metadata: { labels: { [LABEL.role]: null } },
      });
    });
    assert.deepEqual(writes, ['pods/db-0']);
    assert.equal(stage.live('Pod', 'db-0').metadata.labels[LABEL.role], 'primary');
  });

  test('a label that puts the primary behind the Service for reads, or a stranger behind the one for writes', async () => {
    await using stage = await aSettledStage();
    const { api } = stage.cluster;
    const label = (pod: string, labels: Record<string, string>) =>
      api.patch(api.kindOf('v1', 'Pod'), REF.namespace, pod, 'merge', { metadata: { labels } });
    const writes = await writesAfter(stage, () => {
      label('db-0', { [LABEL.reads]: 'true' });
      label('db-1', { [LABEL.role]: 'primary' });
    });
    assert.deepEqual(writes, ['pods/db-0', 'pods/db-1']);
    assert.equal(stage.live('Pod', 'db-0').metadata.labels[LABEL.reads], undefined);
    assert.equal(stage.live('Pod', 'db-1').metadata.labels[LABEL.role], 'secondary');
  });

  test('keys of the Secret that went one after the other; the values of the others stay', async () => {
    await using stage = await aSettledStage();
    const { api } = stage.cluster;
    const kind = api.kindOf('v1', 'Secret');
    for (const key of ['root-password', 'replication-password', 'root-password']) {
      const { data } = stage.live('Secret', 'db-credentials');
      const writes = await writesAfter(stage, () => {
        api.patch(kind, REF.namespace, 'db-credentials', 'merge', { data: { [key]: null } });
      });
      assert.deepEqual(writes, ['secrets/db-credentials']);
      const { [key]: lost, ...others } = data;
      const { [key]: fresh, ...rest } = stage.live('Secret', 'db-credentials').data;
      assert.deepEqual(rest, others);
      assert.ok(fresh && fresh !== lost);
    }
  });

  test('but what somebody added stays, and is no reason to write', async () => {
    await using stage = await aSettledStage();
    const { api } = stage.cluster;
    const writes = await writesAfter(stage, () => {
      api.patch(api.kindOf('v1', 'Service'), REF.namespace, 'db', 'strategic', {
        metadata: { labels: { team: 'shop' } },
        spec: { ports: [{ name: 'admin', port: 33062 }] },
      });
    });
    assert.deepEqual(writes, []);
    assert.equal(stage.live('Service').spec.ports.length, 2);
  });
});

describe('a changed spec', () => {
  test('that asks for nothing costs the write of its generation, and no further look', async () => {
    await using stage = await aSettledStage();
    stage.apply({ primary: 0 });
    const pass = await stage.pass();
    assert.deepEqual([pass.state, pass.writes, pass.again], ['Healthy', 1, false]);
    assert.equal(stage.live('Mysql').status.observedGeneration, 2);
  });

  test('with a larger storage grows every volume', async () => {
    await using stage = await aSettledStage();
    const writes = await writesAfter(stage, () => stage.apply({ storage: { size: '20Gi' } }));
    assert.deepEqual(
      writes,
      [0, 1, 2].map((ordinal) => `persistentvolumeclaims/data-db-${ordinal}`),
    );
    assert.equal(stage.live('PersistentVolumeClaim', 'data-db-1').spec.resources.requests.storage, '20Gi');
  });

  test('of size, quickly up and down, ends where it was', async () => {
    await using stage = await aSettledStage();
    stage.apply({ size: 5 });
    await stage.pass();
    stage.apply({ size: 3 });
    assert.equal((await stage.settled()).state, 'Healthy');
    assert.deepEqual(stage.live('Mysql').status.nodes, ['db-0', 'db-1', 'db-2']);
    assert.equal(stage.live('Pod', 'db-3'), undefined);
  });
});
