/** What the API server refuses, and functions that die, hurry or come in twos. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reconcile } from './reconcile.ts';
import { aSettledStage, aStage, isWrite, REF, type Stage } from './testing.ts';

describe('what is refused for good', () => {
  const refusing = (stage: Stage, message: () => string) => {
    stage.intercept = (sent) =>
      isWrite(sent) && sent.path.includes('/poddisruptionbudgets')
        ? { status: 403, body: { message: message() } }
        : undefined;
  };

  test('is told on the Mysql and as an Event, once; the rest goes on', async () => {
    await using stage = await aStage();
    refusing(stage, () => 'exceeded quota: budgets');
    stage.apply();
    const pass = await stage.settled();
    assert.deepEqual([pass.state, pass.failure?.name], ['Healthy', 'Permanent']);
    const [ready, , , degraded] = stage.live('Mysql').status.conditions;
    assert.deepEqual([ready.status, ready.reason], ['False', 'Healthy']);
    assert.match(degraded.message, /exceeded quota: budgets/);
    const { api } = stage.cluster;
    const events = api.list(api.kindOf('v1', 'Event'), REF.namespace);
    assert.equal(events.filter(({ reason }) => reason === 'Refused').length, 1);
  });

  test('with another request id each time does not wake us again and again', async () => {
    await using stage = await aSettledStage();
    let requests = 0;
    refusing(stage, () => {
      requests += 1;
      return `denied, request 00000000-0000-4000-8000-${`${requests}`.padStart(12, '0')}`;
    });
    const { api } = stage.cluster;
    api.delete(api.kindOf('policy/v1', 'PodDisruptionBudget'), REF.namespace, 'db');
    assert.ok((await stage.pass()).writes > 0);
    for (let passes = 0; passes < 3; passes += 1) assert.equal((await stage.pass()).writes, 0);
    assert.equal(requests, 4);
  });

  test('is forgotten once it is allowed', async () => {
    await using stage = await aSettledStage();
    refusing(stage, () => 'not today');
    const { api } = stage.cluster;
    api.delete(api.kindOf('policy/v1', 'PodDisruptionBudget'), REF.namespace, 'db');
    await stage.pass();
    assert.equal(stage.live('Mysql').status.conditions[0].status, 'False');
    stage.intercept = undefined;
    await stage.settled();
    assert.equal(stage.live('Mysql').status.conditions[0].status, 'True');
  });
});

describe('whatever happens in between, the end is the same:', () => {
  async function undisturbed(): Promise<string[]> {
    await using stage = await aSettledStage();
    return stage.objects();
  }

  test('a function that dies before any one of its writes', async () => {
    const expected = await undisturbed();
    let death = 0;
    for (let reached = true; reached && death < 100; ) {
      death += 1;
      await using stage = await aStage();
      stage.apply();
      let writes = 0;
      let dead = false;
      stage.intercept = (sent) => {
        if (isWrite(sent)) writes += 1;
        dead ||= writes === death;
        return dead ? 'drop' : undefined;
      };
      for (let passes = 0; passes < 100 && !dead && (await stage.pass()).again; passes += 1)
        stage.advance(500);
      reached = dead;
      stage.intercept = undefined;
      stage.cluster.settle();
      assert.equal((await stage.settled()).state, 'Healthy', `write ${death}`);
      assert.deepEqual(stage.objects(), expected, `write ${death}`);
      assert.deepEqual(stage.cluster.model.violations, []);
    }
    assert.ok(death > 20, `only ${death} writes`);
  });

  test('two functions at once, from the first write on', async () => {
    await using stage = await aStage();
    stage.apply();
    for (let rounds = 0; rounds < 30; rounds += 1) {
      await Promise.all([stage.pass(), stage.pass()]);
      stage.advance(500);
    }
    assert.equal((await stage.settled()).state, 'Healthy');
    assert.deepEqual(stage.objects(), await undisturbed());
    assert.deepEqual(stage.cluster.model.violations, []);
  });

  test('a deadline in the middle of a pass', async () => {
    await using stage = await aStage();
    stage.apply();
    const over = new AbortController();
    stage.intercept = (sent) => {
      if (isWrite(sent) && sent.path.endsWith('/services/db-nodes')) over.abort();
      return undefined;
    };
    const pass = await reconcile(REF, stage.ports, over.signal);
    assert.equal(pass.failure?.name, 'Retryable');
    stage.intercept = undefined;
    assert.equal((await stage.settled()).state, 'Healthy');
  });
});
