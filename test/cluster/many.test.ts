/** A hundred at once. */
import assert from 'node:assert/strict';
import type { Mysql } from '../../src/resource/mysql.ts';
import { eventually } from './kubectl.ts';
import { asleep } from './operator.ts';
import { lightMysql } from './samples.ts';
import { story } from './story.ts';

const COUNT = 100;

story(
  `${COUNT} Mysqls at once all converge, each without waste`,
  async (at) => {
    const names = Array.from({ length: COUNT }, (_, index) => `many-${index}`);
    await asleep();
    const started = performance.now();
    const seconds = () => Math.round((performance.now() - started) / 100) / 10;
    await at.apply(...names.map((name) => lightMysql(name)));
    const applied = seconds();
    await eventually('all have told their state', 300, async () => {
      const all = (await at.list('mysql')) as Mysql[];
      const told = all.filter(({ status, metadata }) => {
        const ready = status?.conditions?.find(({ type }) => type === 'Ready');
        return (
          ready?.reason === 'WaitingForPods' &&
          /many-\d+-0/.test(ready.message) &&
          status?.observedGeneration === metadata.generation
        );
      });
      return told.length === COUNT;
    });
    const converged = seconds();
    await asleep(300);
    const passes = at.passes();
    const writes = passes.reduce((sum, pass) => sum + (pass.writes ?? 0), 0);
    console.log(
      `${COUNT} Mysqls: applied in ${applied} s, converged after ${converged} s, ${passes.length} passes, ${writes} writes, ` +
        `${passes.filter((pass) => pass.failure).length} tried again`,
    );
    assert.equal((await at.list('statefulset')).length, COUNT);
    assert.equal((await at.list('service')).length, 3 * COUNT);
    // 8 objects, 2 statuses, 2 Events, and something to spare for what was tried again
    assert.ok(writes <= 16 * COUNT, `${writes} writes`);
  },
  { minutes: 15 },
);
