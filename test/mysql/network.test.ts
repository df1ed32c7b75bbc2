/** A member that lives and is not reached by anybody. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { eventually } from '../cluster/kubectl.ts';
import { asleep } from '../cluster/operator.ts';
import { realMysql } from '../cluster/samples.ts';
import { story } from '../cluster/story.ts';
import { assertSameRows, podsOf, primaryOf, restarts, writable } from './members.ts';
import { cut, heal } from './tools.ts';
import { workloadOn } from './workload.ts';

const PODS = podsOf('m', 3);

describe('network', { concurrency: 1 }, () => {
  story(
    'cut-primary: cut off it fences itself, the others go on, and healed it comes back as a secondary',
    async (at) => {
      await at.apply(realMysql('m'));
      await at.until('m', 'Healthy', 240);
      const application = await workloadOn(at, 'm');
      await asleep();
      const primary = await primaryOf(at, 'm');
      await application.start();
      await cut.run(`${at.namespace}/${primary}`);
      const heir = await eventually('another member is the primary', 60, async () => {
        const now = await primaryOf(at, 'm');
        return now !== primary && now;
      });
      // exec goes through kubelet, which still reaches the pod
      await eventually('the old primary takes no writes any more', 60, async () => {
        const now = await writable(at, PODS);
        return now.length === 1 && now[0] === heir;
      });
      await heal.run(`${at.namespace}/${primary}`);
      await at.until('m', 'Healthy', 180);
      const outcome = await application.stop();
      assert.deepEqual(outcome.lost, []);
      assert.deepEqual(await writable(at, PODS), [await primaryOf(at, 'm')]);
      await assertSameRows(at, PODS);
      assert.equal(await restarts(at), 0);
    },
    { skip: cut.missing ?? heal.missing },
  );

  story(
    'cut-secondary: nobody else is disturbed',
    async (at) => {
      await at.apply(realMysql('m'));
      await at.until('m', 'Healthy', 240);
      const application = await workloadOn(at, 'm');
      const primary = await primaryOf(at, 'm');
      const secondary = PODS.findLast((pod) => pod !== primary) ?? '';
      await asleep();
      await application.start();
      await cut.run(`${at.namespace}/${secondary}`);
      await eventually(
        'it left',
        90,
        async () => !(await at.get('mysql', 'm')).status.nodes.includes(secondary),
      );
      await heal.run(`${at.namespace}/${secondary}`);
      await at.until('m', 'Healthy', 180);
      const outcome = await application.stop();
      assert.deepEqual(outcome.lost, []);
      assert.equal(await primaryOf(at, 'm'), primary);
      await assertSameRows(at, PODS);
    },
    { skip: cut.missing ?? heal.missing },
  );
});
