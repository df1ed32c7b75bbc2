/** A cluster's ordinary life on real servers: sizes, changes, errors of its users. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { eventually } from '../cluster/kubectl.ts';
import { suite } from '../cluster/names.ts';
import { resyncNow } from '../cluster/operator.ts';
import { realMysql } from '../cluster/samples.ts';
import { story } from '../cluster/story.ts';
import { assertSameRows, local, podsOf, primaryOf, restarts, signal } from './members.ts';
import { workloadOn } from './workload.ts';

const PODS = podsOf('m', 3);

describe('life', { concurrency: 1 }, () => {
  for (const size of [1, 2, 5]) {
    story(`create-${size}: is made without a restart`, async (at) => {
      await at.apply(realMysql('m', { size }));
      const mysql = await at.until('m', 'Healthy', 300);
      assert.deepEqual(mysql.status?.nodes, podsOf('m', size));
      assert.equal(await restarts(at), 0);
    });
  }

  story(
    'errant: a transaction outside the group is named, kept out, and rebuilt on the annotation',
    async (at) => {
      await at.apply(realMysql('m'));
      await at.until('m', 'Healthy', 240);
      const application = await workloadOn(at, 'm');
      await application.sql('INSERT INTO app.rows_ VALUES (1)');
      const victim = PODS.find((pod) => pod !== 'm-0') ?? '';
      await local(
        at,
        victim,
        'STOP GROUP_REPLICATION; SET GLOBAL super_read_only = OFF; CREATE DATABASE strayed; SET GLOBAL super_read_only = ON',
      );
      const held = await at.until('m', 'Errant', 120, new RegExp(`${victim} holds`));
      assert.ok(!held.status?.nodes?.includes(victim));
      await at.kubectl('annotate', 'mysql', 'm', `mysql.example.com/rebuild=${victim}`);
      await at.until('m', 'Healthy', 240);
      assert.equal((await local(at, victim, "SHOW DATABASES LIKE 'strayed'")).trim(), '');
      const { metadata } = await at.get('mysql', 'm');
      assert.equal(metadata.annotations?.['mysql.example.com/rebuild'], undefined);
      await assertSameRows(at, PODS);
      assert.equal(await restarts(at), 0);
    },
  );

  story('scale-and-switch: 1 to 3 under load, a switchover, 3 to 1 with the primary on 2', async (at) => {
    await at.apply(realMysql('m', { size: 1 }));
    await at.until('m', 'Healthy', 240);
    const application = await workloadOn(at, 'm');
    await application.start();
    await at.kubectl('scale', 'mysql', 'm', '--replicas=3');
    await at.until('m', 'Healthy', 240);
    await at.kubectl('patch', 'mysql', 'm', '--type=merge', '-p', '{"spec":{"primary":2}}');
    await eventually('m-2 is the primary', 120, async () => (await primaryOf(at, 'm')) === 'm-2');
    const outcome = await application.stop();
    assert.deepEqual(outcome.lost, []);
    assert.ok(outcome.longestGap < 5, `a gap of ${outcome.longestGap} s`);
    await assertSameRows(at, PODS);
    await at.kubectl('patch', 'mysql', 'm', '--type=merge', '-p', '{"spec":{"primary":null,"size":1}}');
    await at.until('m', 'Healthy', 240);
    assert.equal(await primaryOf(at, 'm'), 'm-0');
    assert.ok(Number(await local(at, 'm-0', 'SELECT COUNT(*) FROM app.rows_')) >= outcome.acknowledged);
  });

  story('clone: a member joins whose past the others have forgotten', async (at) => {
    await at.apply(realMysql('m', { size: 1 }));
    await at.until('m', 'Healthy', 240);
    const application = await workloadOn(at, 'm');
    await application.sql('INSERT INTO app.rows_ VALUES (1)');
    await application.sql('FLUSH BINARY LOGS');
    const newest = (await application.sql('SHOW BINARY LOGS')).trim().split('\n').at(-1)?.split('\t')[0];
    await application.sql(`PURGE BINARY LOGS TO '${newest}'`);
    await at.kubectl('scale', 'mysql', 'm', '--replicas=3');
    await at.until('m', 'Healthy', 300);
    for (const pod of ['m-1', 'm-2']) {
      const state = 'SELECT state FROM performance_schema.clone_status';
      assert.equal((await local(at, pod, state)).trim(), 'Completed');
    }
    await assertSameRows(at, PODS);
    assert.equal(await restarts(at), 0);
  });

  story(
    'image: another build rolls the members one at a time, the primary last and after a switchover',
    async (at) => {
      await at.apply(realMysql('m'));
      await at.until('m', 'Healthy', 240);
      const primary = await primaryOf(at, 'm');
      const application = await workloadOn(at, 'm');
      await application.start();
      await at.apply(realMysql('m', { image: suite().nextMysqlImage }));
      let fewest = PODS.length;
      const order: string[] = [];
      await eventually('all members run it', 400, async () => {
        const pods = await at.list('pod', 'app=mysql');
        const ready = pods.filter(({ status }) =>
          status.conditions?.some(
            (one: { type: string; status: string }) => one.type === 'Ready' && one.status === 'True',
          ),
        );
        fewest = Math.min(fewest, ready.length);
        const rolled = pods.filter(({ spec }) => spec.containers[0].image === suite().nextMysqlImage);
        for (const { metadata } of rolled) if (!order.includes(metadata.name)) order.push(metadata.name);
        return rolled.length === PODS.length;
      });
      await at.until('m', 'Healthy', 240);
      const outcome = await application.stop();
      assert.deepEqual(outcome.lost, []);
      assert.ok(fewest >= PODS.length - 1, `${fewest} of ${PODS.length} were ready at a time`);
      assert.equal(order.at(-1), primary);
      assert.ok(outcome.longestGap < 10, `a gap of ${outcome.longestGap} s`);
      await assertSameRows(at, PODS);
    },
    { skip: suite().nextMysqlImage ? undefined : 'say --next-mysql-image' },
  );

  story(
    'config: a changed variable rolls the members, the primary last and after a switchover',
    async (at) => {
      await at.apply(realMysql('m'));
      await at.until('m', 'Healthy', 240);
      const application = await workloadOn(at, 'm');
      await application.start();
      await at.apply(realMysql('m', { config: { max_connections: '77' } }));
      await eventually('all members have it', 300, async () => {
        const all = await Promise.all(PODS.map((pod) => local(at, pod, 'SELECT @@max_connections')));
        return all.every((text) => text.trim() === '77');
      });
      await at.until('m', 'Healthy', 240);
      const outcome = await application.stop();
      assert.deepEqual(outcome.lost, []);
      assert.ok(outcome.longestGap < 10, `a gap of ${outcome.longestGap} s`);
      await at.apply(realMysql('m', { config: { group_replication_bootstrap_group: 'ON' } }));
      await at.until('m', 'Invalid', 60, /group_replication_bootstrap_group/);
    },
  );

  story('hibernate: to zero and back with the same data', async (at) => {
    await at.apply(realMysql('m'));
    await at.until('m', 'Healthy', 240);
    const application = await workloadOn(at, 'm');
    await application.sql('INSERT INTO app.rows_ VALUES (7)');
    await at.kubectl('scale', 'mysql', 'm', '--replicas=0');
    await at.until('m', 'Hibernated', 240);
    assert.equal((await at.list('pod', 'app=mysql')).length, 0);
    await at.kubectl('scale', 'mysql', 'm', '--replicas=3');
    await at.until('m', 'Healthy', 300);
    assert.equal((await application.sql('SELECT id FROM app.rows_')).trim(), '7');
  });

  story(
    'recreate: deleted and made again over its volumes it starts with the old data and password',
    async (at) => {
      await at.apply(realMysql('m'));
      await at.until('m', 'Healthy', 240);
      const application = await workloadOn(at, 'm');
      await application.sql('INSERT INTO app.rows_ VALUES (8)');
      await at.kubectl('delete', 'mysql', 'm');
      await eventually(
        'its pods are gone',
        180,
        async () => (await at.list('pod', 'app=mysql')).length === 0,
      );
      await at.apply(realMysql('m'));
      await at.until('m', 'Healthy', 300);
      assert.equal((await application.sql('SELECT id FROM app.rows_')).trim(), '8');
    },
  );

  story('passwords: an edited Secret is in force, whatever characters it holds', async (at) => {
    await at.apply(realMysql('m', { size: 1 }));
    await at.until('m', 'Healthy', 240);
    for (const password of [`it's "quoted" \\ and $HOME`, 'päßwörd / `id` ; --']) {
      const data = {
        'root-password': password,
        'operator-password': password,
        'replication-password': password,
      };
      await at.kubectl(
        'patch',
        'secret',
        'm-credentials',
        '--type=merge',
        '-p',
        JSON.stringify({ stringData: data }),
      );
      await eventually('the new password works', 180, async () => {
        const told = await at.kubectl(
          'exec',
          'm-0',
          '-c',
          'mysqld',
          '--',
          'bash',
          '-c',
          'MYSQL_PWD=$1 mysql --no-defaults -h127.0.0.1 -uroot -NBe "SELECT 1"',
          'bash',
          password,
        );
        return told.trim() === '1';
      });
      await resyncNow();
      await at.until('m', 'Healthy', 60);
    }
  });

  story('restart: any member comes back by itself', async (at) => {
    await at.apply(realMysql('m'));
    await at.until('m', 'Healthy', 240);
    const secondary = PODS.find((pod) => pod !== 'm-0') ?? '';
    await signal(at, secondary, 'KILL');
    await eventually(
      'it left',
      60,
      async () => !(await at.get('mysql', 'm')).status.nodes.includes(secondary),
    );
    await at.until('m', 'Healthy', 120);
    assert.equal(await restarts(at), 0);
  });
});
