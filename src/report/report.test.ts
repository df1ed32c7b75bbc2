import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide } from '../decide/decide.ts';
import { observe } from '../observe/observe.ts';
import { API_VERSION } from '../resource/names.ts';
import { aStage, REF, type Stage, signal } from '../testing.ts';
import { report } from './report.ts';

async function aReport(stage: Stage) {
  const observed = await observe(REF, stage.ports, signal());
  assert.ok(observed);
  const { facts, verdict } = decide(observed, stage.ports.settings);
  stage.requests.length = 0;
  return () => report(facts, verdict, [], stage.ports.cluster, signal());
}
const eventsIn = ({ cluster: { api } }: Stage) => api.list(api.kindOf('v1', 'Event'), REF.namespace);

test('the status is written first, then the news', async () => {
  await using stage = await aStage();
  stage.apply();
  const tell = await aReport(stage);
  assert.deepEqual(await tell(), { writes: 2, failures: [] });
  assert.equal(stage.live('Mysql').status.conditions[0].reason, 'WaitingForPods');
  assert.deepEqual(
    eventsIn(stage).map(({ reason, type }) => `${type} ${reason}`),
    ['Normal WaitingForPods'],
  );
});

test('a status that stands already is not written again', async () => {
  await using stage = await aStage();
  stage.apply();
  await (await aReport(stage))();
  const again = await aReport(stage);
  assert.deepEqual(await again(), { writes: 0, failures: [] });
  assert.equal(stage.requests.length, 0);
});

describe('when the Mysql was changed since it was read', () => {
  test('nothing is written and nothing told: it would speak of the past', async () => {
    await using stage = await aStage();
    stage.apply();
    const tell = await aReport(stage);
    stage.apply({ size: 5 });
    const { writes, failures } = await tell();
    assert.deepEqual([writes, failures.map((failure) => failure.name)], [0, ['Retryable']]);
    assert.equal(stage.live('Mysql').status, undefined);
    assert.deepEqual(eventsIn(stage), []);
  });

  test('of two that tell the same only one does', async () => {
    await using stage = await aStage();
    stage.apply();
    const both = [await aReport(stage), await aReport(stage)];
    const told = await Promise.all(both.map((tell) => tell()));
    assert.deepEqual(told.map(({ writes }) => writes).sort(), [0, 2]);
    assert.equal(eventsIn(stage).length, 1);
  });

  test('to another one of the same name, that one stays untouched', async () => {
    await using stage = await aStage();
    stage.apply();
    const tell = await aReport(stage);
    const { api } = stage.cluster;
    api.delete(api.kindOf(API_VERSION, 'Mysql'), REF.namespace, REF.name);
    stage.apply();
    assert.deepEqual(
      (await tell()).failures.map((failure) => failure.name),
      ['Retryable'],
    );
    assert.equal(stage.live('Mysql').status, undefined);
  });
});

test('an Event that cannot be recorded does not undo the status', async () => {
  await using stage = await aStage();
  stage.apply();
  const tell = await aReport(stage);
  stage.intercept = ({ path }) => (path.endsWith('/events') ? { status: 403 } : undefined);
  const { writes, failures } = await tell();
  assert.deepEqual([writes, failures.map((failure) => failure.name)], [1, ['Permanent']]);
  assert.ok(stage.live('Mysql').status);
});
