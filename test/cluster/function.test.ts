/** The function away, broken, or twice. Nothing rests on it alone. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe } from 'node:test';
import { eventually, kubectl } from './kubectl.ts';
import { FUNCTION_PODS, NAMESPACE, suite } from './names.ts';
import { asleep, install, resyncNow, writeOverlay } from './operator.ts';
import { lightMysql } from './samples.ts';
import { story } from './story.ts';

const remove = () =>
  kubectl('delete', 'ksvc', '-n', NAMESPACE, 'mysql-operator', '--ignore-not-found', '--timeout=60s');

describe('without the function', { concurrency: 1 }, () => {
  // the revision that failed would keep a pod for ten minutes
  after(async () => {
    await remove();
    await install(suite().overlay);
  });

  story('a Mysql is deleted at once, with all that it owned', async (at) => {
    await at.apply(lightMysql('orphan'));
    await at.until('orphan', 'WaitingForPods', 60);
    await remove();
    await at.kubectl('delete', 'mysql', 'orphan', '--timeout=30s');
    await eventually('garbage collection', 60, async () => {
      const left = await at.kubectl(
        'get',
        'statefulset,service,configmap,pdb,pod',
        '-l',
        'app=mysql',
        '-o',
        'name',
      );
      return left === '';
    });
    // the data and what opens it stay
    assert.equal((await at.list('secret', 'app=mysql')).length, 1);
    await install(suite().overlay);
  });

  story('uninstalled, it leaves every Mysql where it is; installed again, it takes them up', async (at) => {
    await at.apply(lightMysql('stays', { size: 2 }));
    await at.until('stays', 'WaitingForPods', 60);
    const before = await at.get('statefulset', 'stays');
    await kubectl('delete', '-k', 'knative/base', '--timeout=240s');
    await at.kubectl('scale', 'mysql', 'stays', '--replicas=1');
    await install(suite().overlay);
    await resyncNow();
    await at.until('stays', 'WaitingForPods', 120);
    const { metadata, spec } = await at.get('statefulset', 'stays');
    assert.equal(metadata.uid, before.metadata.uid);
    assert.equal(spec.replicas, 1);
  });

  story('what happens while its image cannot be had is found once it can', async (at) => {
    await remove();
    await kubectl('apply', '-k', writeOverlay(join(suite().overlay, '../overlay-bad'), 'dev.local/absent:1'));
    await at.apply(lightMysql('missed'));
    await eventually('the revision has failed', 180, async () => {
      const text = await kubectl('get', 'pods', '-n', NAMESPACE, '-l', FUNCTION_PODS, '-o', 'json');
      const waiting = JSON.parse(text).items[0]?.status?.containerStatuses?.map(
        (one: { state: { waiting?: { reason: string } } }) => one.state.waiting?.reason,
      );
      return waiting?.some((reason: string | undefined) => /ErrImage|ImagePull/.test(reason ?? ''));
    });
    assert.equal(await at.get('statefulset', 'missed'), undefined);
    await install(suite().overlay);
    await resyncNow();
    await at.until('missed', 'WaitingForPods', 120);
  });
});

story('two revisions side by side make one of each object', async (at) => {
  const names = Array.from({ length: 10 }, (_, index) => `side-${index}`);
  const revision = () =>
    kubectl(
      'get',
      'ksvc',
      '-n',
      NAMESPACE,
      'mysql-operator',
      '-o',
      'jsonpath={.status.latestReadyRevisionName}',
    );
  const before = await revision();
  const env = [
    {
      op: 'add',
      path: '/spec/template/spec/containers/0/env/-',
      value: { name: 'MOST_LOOKS', value: '239' },
    },
  ];
  const patch = ['patch', 'ksvc', '-n', NAMESPACE, 'mysql-operator', '--type=json', '-p'];
  try {
    await kubectl(...patch, JSON.stringify(env));
    for (const name of names) await at.apply(lightMysql(name));
    for (const name of names) await at.until(name, 'WaitingForPods', 120);
    await eventually('the new revision is ready', 120, async () => (await revision()) !== before);
    await resyncNow();
    await asleep();
  } finally {
    await install(suite().overlay);
  }
  assert.equal((await at.list('statefulset')).length, names.length);
  assert.equal((await at.list('service')).length, 3 * names.length);
  assert.equal((await at.list('secret')).length, names.length);
  // each was told to wait once, whoever saw it first
  const events = await at.kubectl(
    'get',
    'events',
    '--field-selector=involvedObject.kind=Mysql',
    '-o',
    'json',
  );
  const told = JSON.parse(events).items as {
    reason: string;
    note?: string;
    message?: string;
    involvedObject: { name: string };
  }[];
  for (const name of names) {
    const same = told
      .filter((one) => one.involvedObject.name === name)
      .map((one) => `${one.reason} ${one.message}`);
    assert.equal(new Set(same).size, same.length, same.join('\n'));
  }
});
