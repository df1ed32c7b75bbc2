/** The primary is lost while the function sleeps and an application writes. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { spreadOf } from '../bench/spread.ts';
import { asleep } from '../cluster/operator.ts';
import { realMysql } from '../cluster/samples.ts';
import { story } from '../cluster/story.ts';
import { assertSameRows, podsOf, primaryOf, restarts, signal, writable } from './members.ts';
import { workloadOn } from './workload.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 1);
const PODS = podsOf('m', 3);

describe('failover', { concurrency: 1 }, () => {
  story(
    'kill-primary: SIGKILL loses no acknowledged row and lets the next one in within seconds',
    async (at) => {
      await at.apply(realMysql('m'));
      await at.until('m', 'Healthy', 240);
      assert.equal(await restarts(at), 0);
      const application = await workloadOn(at, 'm');
      const gaps: number[] = [];
      let rows = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        await asleep();
        const primary = await primaryOf(at, 'm');
        await application.start();
        await signal(at, primary, 'KILL');
        await at.until('m', 'Healthy', 120);
        const outcome = await application.stop();
        assert.deepEqual(outcome.lost, []);
        assert.notEqual(await primaryOf(at, 'm'), primary);
        assert.equal((await writable(at, PODS)).length, 1);
        gaps.push(outcome.longestGap);
        rows += outcome.acknowledged;
        const { median, p95, most } = spreadOf(gaps);
        console.log(
          `rounds ${round + 1}  acknowledged ${rows}  lost 0  failover p50 ${median.toFixed(1)} s, p95 ${p95.toFixed(1)} s, max ${most.toFixed(1)} s`,
        );
      }
      await assertSameRows(at, PODS);
      assert.equal(await restarts(at), 0);
    },
    10 + 3 * ROUNDS,
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
