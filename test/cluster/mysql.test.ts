/** Real servers, the operator installed as users install it. What goes wrong inside MySQL has its own suite. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { eventually } from './kubectl.ts';
import { asleep, resyncNow } from './operator.ts';
import { realMysql } from './samples.ts';
import { type Story, story } from './story.ts';

/** Through the Service, as an application does; from inside a member's pod because there is a client. */
const sql = (at: Story, name: string, statement: string, service = name): Promise<string> => {
  const client = `mysql --no-defaults -h ${service} -uroot -p"$(</etc/mysql-credentials/root-password)" -NBe "$1" 2>/dev/null`;
  return at.kubectl('exec', `${name}-0`, '-c', 'mysqld', '--', 'bash', '-c', client, 'bash', statement);
};

const rolesOf = async (at: Story, name: string) => {
  const pods = await at.list('pod', `mysql.example.com/cluster=${name}`);
  return Object.fromEntries(
    pods.map(({ metadata }) => [metadata.name, metadata.labels['mysql.example.com/role']]),
  );
};

const restarts = async (at: Story): Promise<number[]> =>
  (await at.list('pod')).map(({ status }) => status.containerStatuses?.[0]?.restartCount ?? 0);

describe('a cluster of real servers', { concurrency: 1 }, () => {
  story(
    'is made, fails over, scales, sleeps and wakes, and keeps what was written',
    async (at) => {
      await at.apply(realMysql('m'));
      await at.until('m', 'Healthy', 240);
      assert.deepEqual(await restarts(at), [0, 0, 0]);
      await sql(
        at,
        'm',
        'CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY); INSERT INTO d.t VALUES (1)',
      );

      // the function sleeps when the primary's pod is deleted
      await asleep();
      const before = (await at.get('mysql', 'm')).status.primary;
      await at.kubectl('delete', 'pod', before, '--wait=false');
      const primary = await eventually('another primary', 60, async () => {
        const now = (await at.get('mysql', 'm')).status.primary;
        return now !== before && now;
      });
      await eventually('writes go on', 30, () =>
        sql(at, 'm', 'INSERT IGNORE INTO d.t VALUES (2)').then(() => true),
      );
      await at.until('m', 'Healthy', 180);
      const roles = await rolesOf(at, 'm');
      assert.deepEqual(
        Object.entries(roles).filter(([, role]) => role === 'primary'),
        [[primary, 'primary']],
      );

      await at.kubectl('scale', 'mysql', 'm', '--replicas=4');
      await at.until('m', 'Healthy', 180);
      assert.equal((await at.get('mysql', 'm')).status.nodes.length, 4);
      await at.kubectl('scale', 'mysql', 'm', '--replicas=1');
      await at.until('m', 'Healthy', 240);
      assert.deepEqual((await at.get('mysql', 'm')).status.nodes, ['m-0']);
      assert.equal((await sql(at, 'm', 'SELECT COUNT(*) FROM d.t', 'm-read')).trim(), '2');

      await at.kubectl('scale', 'mysql', 'm', '--replicas=0');
      await at.until('m', 'Hibernated', 120);
      await eventually('no pod', 120, async () => (await at.list('pod')).length === 0);
      await at.kubectl('scale', 'mysql', 'm', '--replicas=1');
      await at.until('m', 'Healthy', 180);
      assert.equal((await sql(at, 'm', 'SELECT COUNT(*) FROM d.t')).trim(), '2');
    },
    { minutes: 20 },
  );

  story(
    'a bad image disturbs one member only, and the old one back heals it',
    async (at) => {
      await at.apply(realMysql('m'));
      const { spec } = await at.until('m', 'Healthy', 240);
      const image = (to: string) =>
        at.kubectl('patch', 'mysql', 'm', '--type=merge', '-p', JSON.stringify({ spec: { image: to } }));
      await image('dev.local/absent:1');
      await eventually('the state names the image', 120, async () => {
        await resyncNow();
        return at.until('m', 'WaitingForPods', 5, /ErrImage|ImagePull/);
      });
      const ready = async () =>
        (await at.list('pod')).filter(({ status }) =>
          status.conditions.some(
            ({ type, status }: { type: string; status: string }) => type === 'Ready' && status === 'True',
          ),
        );
      assert.equal((await ready()).length, 2);
      await sql(at, 'm', 'CREATE DATABASE while_disturbed');
      await image(spec.image);
      await at.until('m', 'Healthy', 240);
      // kubelet asks the probe every two seconds: a pod is ready a moment after its member is ONLINE
      await eventually('all are ready', 30, async () => (await ready()).length === 3);
    },
    { minutes: 15 },
  );

  story('deleted and made again over kept volumes, it has its data and its passwords', async (at) => {
    const wanted = realMysql('kept', { size: 1 });
    await at.apply(wanted);
    await at.until('kept', 'Healthy', 180);
    await sql(at, 'kept', 'CREATE DATABASE kept');
    const secret = (await at.get('secret', 'kept-credentials')).data;
    await at.kubectl('delete', 'mysql', 'kept', '--timeout=30s');
    await eventually('no pod', 180, async () => (await at.list('pod')).length === 0);
    assert.equal((await at.list('pvc')).length, 1);
    await at.apply(wanted);
    await at.until('kept', 'Healthy', 180);
    assert.deepEqual((await at.get('secret', 'kept-credentials')).data, secret);
    assert.match(await sql(at, 'kept', 'SHOW DATABASES'), /^kept$/m);
  });
});
