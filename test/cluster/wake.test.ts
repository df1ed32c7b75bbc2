/** Asleep until something happens: what wakes the function, what does not, and what heals when nothing woke it. */
import assert from 'node:assert/strict';
import { eventually, kubectl } from './kubectl.ts';
import { NAMESPACE, suite } from './names.ts';
import { asleep, functionPods, resyncNow, scaleAdapter, staysAsleep } from './operator.ts';
import { lightMysql } from './samples.ts';
import { story } from './story.ts';

/** Seconds: several times the window, and longer than any pause between looks. */
const QUIET = 180;

story(
  'an event wakes it from zero, it goes back to zero, and stays there while clusters are present',
  async (at) => {
    await asleep();
    await at.apply(lightMysql('a'), lightMysql('b'));
    await at.until('a', 'WaitingForPods', 60);
    await at.until('b', 'WaitingForPods', 60);
    const [first] = at.passes();
    assert.match(first?.trigger ?? '', /^dev\.knative\.apiserver\.ref\.add/);
    await asleep();
    const settled = await at.get('mysql', 'a');
    const passes = at.passes().length;
    await staysAsleep(QUIET);
    assert.equal((await at.get('mysql', 'a')).metadata.resourceVersion, settled.metadata.resourceVersion);
    assert.equal(at.passes().length, passes);
  },
);

story('events about a converged cluster cause no write', async (at) => {
  await at.apply(lightMysql('same'));
  await at.until('same', 'WaitingForPods', 60);
  await eventually('a pass that found nothing to do', 60, async () => at.passes().at(-1)?.writes === 0);
  const before = await at.get('mysql', 'same');
  const passes = at.passes().length;
  for (let round = 0; round < 5; round += 1) {
    await at.kubectl('annotate', 'pod', 'same-0', `round=${round}`, '--overwrite');
  }
  await eventually('they were looked at', 60, async () => at.passes().length > passes);
  await asleep();
  const after = at.passes().slice(passes);
  assert.deepEqual(
    after.map(({ writes }) => writes),
    after.map(() => 0),
  );
  assert.equal((await at.get('mysql', 'same')).metadata.resourceVersion, before.metadata.resourceVersion);
});

story('with the source away nothing is seen, and one resync heals it', async (at) => {
  await at.apply(lightMysql('changed', { size: 2 }), lightMysql('deleted'));
  await at.until('changed', 'WaitingForPods', 60);
  await at.until('deleted', 'WaitingForPods', 60);
  await asleep();
  await scaleAdapter(0);
  try {
    const passes = at.passes().length;
    await at.apply(lightMysql('made'));
    await at.kubectl('scale', 'mysql', 'changed', '--replicas=1');
    await at.kubectl('delete', 'mysql', 'deleted');
    await staysAsleep(20);
    assert.equal(await at.get('statefulset', 'made'), undefined);
    // garbage collection needs nobody
    assert.equal(await at.get('statefulset', 'deleted'), undefined);
    await resyncNow();
    await at.until('made', 'WaitingForPods', 60);
    await eventually(
      'one replica',
      60,
      async () => (await at.get('statefulset', 'changed')).spec.replicas === 1,
    );
    await asleep();
    const triggers = new Set(
      at
        .passes()
        .slice(passes)
        .map(({ trigger }) => trigger),
    );
    assert.deepEqual(
      [...triggers].filter((trigger) => trigger.startsWith('dev.knative')),
      [],
    );
    assert.ok(triggers.has('com.example.mysql.resync'), [...triggers].join());
  } finally {
    await scaleAdapter(1);
  }
});

story('the CronJob runs by itself and leaves what is settled asleep', async (at) => {
  await at.apply(lightMysql('waits'));
  await at.until('waits', 'WaitingForPods', 60);
  const cronJob = (spec: object) =>
    kubectl(
      'patch',
      'cronjob',
      '-n',
      NAMESPACE,
      'mysql-operator-resync',
      '--type=merge',
      '-p',
      JSON.stringify({ spec }),
    );
  await cronJob({ suspend: false, schedule: '* * * * *' });
  try {
    await eventually('a pass that the resync asked for', 150, async () =>
      at.passes().some(({ trigger }) => trigger === 'com.example.mysql.resync'),
    );
  } finally {
    await cronJob({ suspend: true, schedule: '*/5 * * * *' });
  }
});

story('an event that anybody posts is a hint like any other', async (at) => {
  await at.apply(lightMysql('hinted'));
  await at.until('hinted', 'WaitingForPods', 60);
  await asleep();
  const passes = at.passes().length;
  const headers = {
    'ce-specversion': '1.0',
    'ce-id': '1',
    'ce-source': 'me',
    'ce-type': 'com.example.mysql.nudge',
    'ce-subject': `${at.namespace}/hinted`,
  };
  const script = `fetch("http://mysql-operator.${NAMESPACE}.svc.cluster.local/", ${JSON.stringify({ method: 'POST', headers })})
    .then((answer) => process.exit(answer.status === 204 ? 0 : 1))`;
  await at.kubectl(
    'run',
    'poster',
    `--image=${suite().image}`,
    '--restart=Never',
    '--command',
    '--',
    'node',
    '-e',
    script,
  );
  await at.kubectl('wait', '--for=jsonpath={.status.phase}=Succeeded', '--timeout=60s', 'pod/poster');
  await eventually('it was looked at', 30, async () => at.passes().length > passes);
  assert.equal(at.passes()[passes]?.trigger, 'com.example.mysql.nudge');
  assert.ok((await functionPods()).length > 0);
});
