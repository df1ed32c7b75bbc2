/** The primary is lost while the function sleeps and an application writes. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { spreadOf } from '../bench/spread.ts';
import { eventually } from '../cluster/kubectl.ts';
import { asleep, atZero } from '../cluster/operator.ts';
import { realMysql } from '../cluster/samples.ts';
import { type Story, story } from '../cluster/story.ts';
import { assertSameRows, podsOf, primaryOf, restarts, signal, writable } from './members.ts';
import { workloadOn } from './workload.ts';

/** Kills in all, and how many clusters lose their primary at once: the more, the more passes one waking function has before it. */
const ROUNDS = Number(process.env.ROUNDS ?? 1);
const AT_ONCE = Math.min(4, ROUNDS);
const PODS = podsOf('m', 3);

describe('failover', { concurrency: 1 }, () => {
  story(
    'kill-primary: SIGKILL loses no acknowledged row and lets the next one in within seconds',
    async (at) => {
      const names = Array.from({ length: AT_ONCE }, (_, index) => `m${index}`);
      const clusters = await Promise.all(names.map((name) => clusterUnderLoad(at, name)));
      assert.equal(await restarts(at), 0);
      const gaps: number[] = [];
      let rows = 0;
      while (gaps.length < ROUNDS) {
        await atZero();
        const outcomes = await Promise.all(clusters.map((cluster) => cluster.losePrimary()));
        for (const { acknowledged, longestGap } of outcomes) {
          gaps.push(longestGap);
          rows += acknowledged;
        }
        const { median, p95, most } = spreadOf(gaps);
        console.log(
          `rounds ${gaps.length}  acknowledged ${rows}  lost 0  failover p50 ${median.toFixed(1)} s, p95 ${p95.toFixed(1)} s, max ${most.toFixed(1)} s`,
        );
      }
      for (const name of names) await assertSameRows(at, podsOf(name, 3));
      assert.equal(await restarts(at), 0);
    },
    { minutes: 10 + 3 * Math.ceil(ROUNDS / AT_ONCE) },
  );

  story('pause-primary: SIGSTOP, and the old one wakes up to find itself replaced', async (at) => {
    await at.apply(realMysql('m'));
    await at.until('m', 'Healthy', 240);
    const application = await workloadOn(at, 'm');
    await asleep();
    const primary = await primaryOf(at, 'm');
    await application.start();
    await signal(at, primary, 'STOP');
    await pause(15_000);
    await signal(at, primary, 'CONT');
    await at.until('m', 'Healthy', 180);
    const outcome = await application.stop();
    assert.deepEqual(outcome.lost, []);
    assert.notEqual(await primaryOf(at, 'm'), primary);
    assert.deepEqual(await writable(at, PODS), [await primaryOf(at, 'm')]);
    await assertSameRows(at, PODS);
  });
});

async function clusterUnderLoad(at: Story, name: string) {
  await at.apply(realMysql(name));
  await at.until(name, 'Healthy', 240);
  const application = await workloadOn(at, name);
  return {
    /** SIGKILL to the primary under load, until all is well again. Throws when a row was lost or more than one member takes writes. */
    losePrimary: async () => {
      const primary = await primaryOf(at, name);
      await application.start();
      await signal(at, primary, 'KILL');
      await eventually(
        'another member is the primary',
        60,
        async () => (await primaryOf(at, name)) !== primary,
      );
      await at.until(name, 'Healthy', 120);
      const outcome = await application.stop();
      assert.deepEqual(outcome.lost, []);
      assert.equal((await writable(at, podsOf(name, 3))).length, 1);
      return outcome;
    },
  };
}
