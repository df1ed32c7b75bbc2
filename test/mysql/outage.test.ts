/** All members, or most, are lost at once. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { kubectl } from '../cluster/kubectl.ts';
import { NAMESPACE } from '../cluster/names.ts';
import { asleep, functionPods, resyncNow } from '../cluster/operator.ts';
import { realMysql } from '../cluster/samples.ts';
import { story } from '../cluster/story.ts';
import { assertSameRows, podsOf, primaryOf, restarts, signal } from './members.ts';
import { workloadOn } from './workload.ts';

const PODS = podsOf('m', 3);

describe('outage', { concurrency: 1 }, () => {
  story(
    'kill-all: everything acknowledged is there again, with the last writer not ordinal 0 and the function killed midway',
    async (at) => {
      await at.apply(realMysql('m', { primary: 2 }));
      await at.until('m', 'Healthy', 300);
      assert.equal(await primaryOf(at, 'm'), 'm-2');
      const application = await workloadOn(at, 'm');
      await asleep();
      await application.start();
      await Promise.all(PODS.map((pod) => signal(at, pod, 'KILL')));
      for (const pod of await functionPods())
        await kubectl('delete', '-n', NAMESPACE, pod, '--grace-period=0', '--force');
      await at.until('m', 'Healthy', 240);
      const outcome = await application.stop();
      assert.deepEqual(outcome.lost, []);
      await assertSameRows(at, PODS);
      assert.equal(await restarts(at), 0);
    },
  );

  story(
    'two-gone: without two of three volumes it waits, names them, and goes on when the loss is accepted',
    async (at) => {
      await at.apply(realMysql('m'));
      await at.until('m', 'Healthy', 240);
      const application = await workloadOn(at, 'm');
      await application.sql('INSERT INTO app.rows_ VALUES (1)');
      const survivor = await primaryOf(at, 'm');
      const gone = PODS.filter((pod) => pod !== survivor);
      // nodes that never come back: the pods are gone by force and cannot be scheduled again
      await at.apply(
        realMysql('m', {
          podTemplate: { nodeSelector: { 'mysql-operator-test': 'no-such-node' } },
          paused: true,
        }),
      );
      await kubectl(
        '-n',
        at.namespace,
        'patch',
        'statefulset',
        'm',
        '--type=json',
        '-p',
        JSON.stringify([
          {
            op: 'add',
            path: '/spec/template/spec/nodeSelector',
            value: { 'mysql-operator-test': 'no-such-node' },
          },
        ]),
      );
      await kubectl('-n', at.namespace, 'delete', 'pod', ...gone, '--grace-period=0', '--force');
      await at.apply(
        realMysql('m', { podTemplate: { nodeSelector: { 'mysql-operator-test': 'no-such-node' } } }),
      );
      await resyncNow();
      const waiting = await at.until('m', 'QuorumLost', 120, /accept-data-loss/);
      const message = waiting.status?.conditions?.find((one) => one.type === 'Ready')?.message ?? '';
      for (const pod of gone) assert.ok(message.includes(pod), message);
      await at.kubectl('annotate', 'mysql', 'm', `mysql.example.com/accept-data-loss=${gone.join(',')}`);
      await at.until('m', 'WaitingForPods', 240);
      assert.equal((await application.sql('SELECT id FROM app.rows_')).trim(), '1');
      const { metadata } = await at.get('mysql', 'm');
      assert.equal(metadata.annotations['mysql.example.com/accept-data-loss'], undefined);
    },
  );
});
