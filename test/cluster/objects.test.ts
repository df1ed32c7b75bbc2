/** What a Mysql becomes, and what happens to it: everything that needs no running MySQL. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { eventually, kubectl, kubectlWith } from './kubectl.ts';
import { TEST_LABEL } from './names.ts';
import { resyncNow } from './operator.ts';
import { lightMysql, realMysql } from './samples.ts';
import { type Story, sourceKnows, story } from './story.ts';

const OWNED = ['statefulset', 'service', 'configmap', 'secret', 'poddisruptionbudget'] as const;
const OURS = 'app.kubernetes.io/managed-by=mysql-operator';

/** Names of all objects of ours in the namespace, by kind. */
async function owned(at: Story): Promise<Record<string, string[]>> {
  const lists = await Promise.all(OWNED.map((kind) => at.list(kind, OURS)));
  return Object.fromEntries(
    OWNED.map((kind, i) => [kind, (lists[i] ?? []).map((one) => one.metadata.name).sort()]),
  );
}

story(
  'the seed resource, unchanged, gets its objects, its owner references, a status and Events',
  async (at) => {
    const seed = parse(readFileSync(new URL('../../crds/samples/mysql-seed.yaml', import.meta.url), 'utf8'));
    await at.apply(seed);
    const mysql = await eventually('a status', 60, async () => {
      const live = await at.get('mysql', 'mysql-seed');
      return live?.status?.conditions && live;
    });
    assert.deepEqual(await owned(at), {
      statefulset: ['mysql-seed'],
      service: ['mysql-seed', 'mysql-seed-nodes', 'mysql-seed-read'],
      configmap: ['mysql-seed-config'],
      secret: ['mysql-seed-credentials'],
      poddisruptionbudget: ['mysql-seed'],
    });
    for (const kind of OWNED) {
      for (const { metadata } of await at.list(kind, OURS)) {
        // the passwords outlive the Mysql as the volumes do
        const owners = kind === 'secret' ? [] : [mysql.metadata.uid];
        assert.deepEqual(
          (metadata.ownerReferences ?? []).map(({ uid }: { uid: string }) => uid),
          owners,
          metadata.name,
        );
      }
    }
    const set = await at.get('statefulset', 'mysql-seed');
    assert.equal(set.spec.replicas, 3);
    assert.equal(set.spec.template.spec.containers[0].image, 'mysql:5.7');
    assert.equal(mysql.status.observedGeneration, mysql.metadata.generation);
    const events = await eventually('an Event on the Mysql', 20, async () => {
      const all = await at.kubectl(
        'get',
        'events',
        '--field-selector=involvedObject.kind=Mysql',
        '-o',
        'json',
      );
      const { items } = JSON.parse(all);
      return items.length > 0 && items;
    });
    assert.equal(events[0].involvedObject.uid, mysql.metadata.uid);
    assert.match(await at.kubectl('describe', 'mysql', 'mysql-seed'), /Events:/);
  },
);

story('kubectl scale changes the StatefulSet, and the status says how many pods there are', async (at) => {
  await at.apply(lightMysql('scaled', { size: 3 }));
  await at.until('scaled', 'WaitingForPods', 60);
  await at.kubectl('scale', 'mysql', 'scaled', '--replicas=2');
  await eventually(
    'two replicas',
    60,
    async () => (await at.get('statefulset', 'scaled')).spec.replicas === 2,
  );
  await eventually('the scale subresource says two', 60, async () => {
    const path = `/apis/example.com/v1alpha1/namespaces/${at.namespace}/mysqls/scaled/scale`;
    const scale = JSON.parse(await kubectl('get', '--raw', path));
    return (
      scale.spec.replicas === 2 && scale.status.replicas === 2 && scale.status.selector.includes('scaled')
    );
  });
});

story('what somebody deletes or edits comes back', async (at) => {
  await at.apply(lightMysql('repaired'));
  await at.until('repaired', 'WaitingForPods', 60);
  const before = await owned(at);
  await at.kubectl('delete', 'service', 'repaired-read');
  await at.kubectl('delete', 'poddisruptionbudget', 'repaired');
  await at.kubectl(
    'patch',
    'configmap',
    'repaired-config',
    '--type=merge',
    '-p',
    '{"data":{"my.cnf":"broken"}}',
  );
  await resyncNow();
  // a Mysql that waits is looked at by the resync; its children need no watch of their own
  await eventually('all is as before', 60, async () => {
    assert.deepEqual(await owned(at), before);
    return (await at.get('configmap', 'repaired-config')).data['my.cnf'] !== 'broken';
  });
});

story('a name that belongs to somebody else is told and not taken', async (at) => {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'taken' },
    spec: { ports: [{ port: 80 }] },
  };
  await at.apply(service);
  const before = await at.get('service', 'taken');
  await at.apply(lightMysql('taken'));
  await at.until('taken', 'NameConflict', 60, /Service/);
  assert.deepEqual((await at.get('service', 'taken')).metadata.uid, before.metadata.uid);
  assert.deepEqual((await at.get('service', 'taken')).spec, before.spec);
});

story('a quota on pods is named, and lifting it heals', async (at) => {
  const quota = (pods: string) => ({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'few' },
    spec: { hard: { pods } },
  });
  await at.apply(quota('1'));
  await eventually(
    'the quota is in force',
    30,
    async () => (await at.get('resourcequota', 'few')).status?.hard,
  );
  await at.apply(lightMysql('many', { size: 3 }));
  await eventually('one pod', 60, async () => (await at.list('pod')).length === 1);
  // a pod that is never made gives no event: the resync looks
  await eventually('the quota is named', 60, async () => {
    await resyncNow();
    return at.until('many', 'WaitingForPods', 5, /exceeded quota: few/);
  });
  await at.apply(quota('10'));
  await eventually('three pods', 240, async () => (await at.list('pod')).length === 3);
  await at.until('many', 'WaitingForPods', 60, /many-0, many-1 and many-2/);
});

story('a quota on Services is told in the words of the API server, and lifting it heals', async (at) => {
  const quota = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'few' },
    spec: { hard: { services: '1' } },
  };
  await at.apply(quota);
  await eventually(
    'the quota is in force',
    30,
    async () => (await at.get('resourcequota', 'few')).status?.hard,
  );
  await at.apply(lightMysql('refused'));
  await eventually('the refusal is on the resource', 60, async () => {
    const mysql = await at.get('mysql', 'refused');
    const degraded = mysql.status?.conditions?.find(({ type }: { type: string }) => type === 'Degraded');
    return degraded?.reason === 'Refused' && /exceeded quota: few/.test(degraded.message);
  });
  await at.kubectl('delete', 'resourcequota', 'few');
  await resyncNow();
  await eventually('three Services', 60, async () => (await at.list('service', OURS)).length === 3);
});

story('an image that cannot be had is named', async (at) => {
  await at.apply(realMysql('pull', { size: 1, image: 'dev.local/absent:1' }));
  await at.until('pull', 'WaitingForPods', 120, /pull-0.*(ErrImagePull|ImagePullBackOff|ErrImageNeverPull)/);
});

story('a namespace goes away with everything in it', async (at) => {
  await at.apply(lightMysql('gone'), realMysql('gone-too', { size: 1 }));
  await at.until('gone', 'WaitingForPods', 60);
  await at.kubectl('delete', 'namespace', at.namespace, '--timeout=120s');
});

story('the same name in two namespaces is two clusters', async (at) => {
  const other = `${at.namespace}-2`;
  await kubectl('create', 'namespace', other);
  // goes with the others when all stories are told
  await kubectl('label', 'namespace', other, `${TEST_LABEL}=`);
  await sourceKnows(other);
  await at.apply(lightMysql('twin'));
  await at.until('twin', 'WaitingForPods', 60);
  const there = JSON.stringify(lightMysql('twin', { size: 2 }));
  await kubectlWith(there, '-n', other, 'apply', '-f', '-');
  const set = (namespace: string) =>
    kubectl('get', 'statefulset', 'twin', '-n', namespace, '-o', 'json').then(JSON.parse);
  const made = await eventually('the other twin', 60, () => set(other));
  assert.equal(made.spec.replicas, 2);
  const uid = (await set(at.namespace)).metadata.uid;
  await kubectl('delete', 'mysql', 'twin', '-n', other);
  await eventually(
    'the other is gone',
    60,
    async () => (await kubectl('get', 'statefulset', '-n', other, '-o', 'name')) === '',
  );
  assert.equal((await set(at.namespace)).metadata.uid, uid);
});
