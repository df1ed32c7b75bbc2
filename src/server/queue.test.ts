import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Retryable } from '../errors.ts';
import type { Pass } from '../pass.ts';
import { Queue } from './queue.ts';

const settled: Pass = {
  state: 'Healthy',
  message: '',
  uid: 'u',
  writes: 0,
  again: false,
  failure: undefined,
};
const ref = (name: string) => ({ namespace: 'shop', name });

/** A queue whose passes end when the test says so, and whose time the test moves. */
function aQueue({ concurrency = 16, mostLooks = 5 } = {}) {
  const begun: {
    name: string;
    trigger: string;
    end: (pass?: Partial<Pass>) => void;
    fail: (error: Error) => void;
  }[] = [];
  const planned = new Map<() => void, number>();
  const running = new Set<string>();
  const queue = new Queue({
    concurrency,
    lookAgainAfter: 500,
    mostLooks,
    later: (ms, run) => {
      planned.set(run, ms);
      return () => void planned.delete(run);
    },
    run: async ({ namespace, name }, trigger) => {
      const key = `${namespace}/${name}`;
      assert.ok(!running.has(key), `two passes over ${key} at once`);
      running.add(key);
      const { promise, resolve, reject } = Promise.withResolvers<Pass>();
      begun.push({ name, trigger, end: (pass = {}) => resolve({ ...settled, ...pass }), fail: reject });
      return promise.finally(() => running.delete(key));
    },
  });
  const elapse = () => {
    for (const run of [...planned.keys()]) {
      planned.delete(run);
      run();
    }
  };
  const last = () => begun.at(-1) ?? assert.fail('no pass has begun');
  return { queue, begun, planned, elapse, last, names: () => begun.map(({ name }) => name) };
}

test('a hint begins a pass and resolves with it', async () => {
  const { queue, last } = aQueue();
  const pass = queue.hint(ref('a'), 'nudge');
  assert.equal(last().trigger, 'nudge');
  last().end({ message: 'done' });
  assert.equal((await pass).message, 'done');
  assert.equal(queue.size, 0);
});

test('twenty hints at once are two passes, one after the other, and the later nineteen share the second', async () => {
  const { queue, begun, last } = aQueue();
  const passes = Array.from({ length: 20 }, (_, index) => queue.hint(ref('a'), `hint ${index}`));
  assert.equal(begun.length, 1);
  last().end({ message: 'first' });
  await passes[0];
  await turn();
  assert.equal(begun.length, 2);
  last().end({ message: 'second' });
  const messages = (await Promise.all(passes)).map(({ message }) => message);
  assert.deepEqual(messages, ['first', ...Array(19).fill('second')]);
  await turn();
  assert.equal(begun.length, 2);
});

test('a hint during a pass waits for the pass that begins after it', async () => {
  const { queue, last } = aQueue();
  const first = queue.hint(ref('a'), 'one');
  let answered = false;
  const second = queue.hint(ref('a'), 'two').then((pass) => {
    answered = true;
    return pass;
  });
  last().end();
  await first;
  await turn();
  assert.equal(answered, false);
  last().end({ message: 'after' });
  assert.equal((await second).message, 'after');
});

test('different Mysqls run side by side, the same name in another namespace too', () => {
  const { queue, names } = aQueue();
  void queue.hint(ref('a'), '');
  void queue.hint(ref('b'), '');
  void queue.hint({ namespace: 'other', name: 'a' }, '');
  assert.deepEqual(names(), ['a', 'b', 'a']);
});

test('never more passes at once than allowed; the others come in the order of their first hint', async () => {
  const { queue, begun, names } = aQueue({ concurrency: 2 });
  for (const name of ['a', 'b', 'c', 'd', 'c']) void queue.hint(ref(name), '');
  assert.deepEqual(names(), ['a', 'b']);
  begun[1]?.end();
  await turn();
  assert.deepEqual(names(), ['a', 'b', 'c']);
  begun[0]?.end();
  await turn();
  assert.deepEqual(names(), ['a', 'b', 'c', 'd']);
});

test('a busy Mysql does not keep the others from their turn', async () => {
  const { queue, begun, names } = aQueue({ concurrency: 1 });
  void queue.hint(ref('busy'), '');
  void queue.hint(ref('busy'), '');
  void queue.hint(ref('quiet'), '');
  begun[0]?.end();
  await turn();
  assert.deepEqual(names(), ['busy', 'quiet']);
});

test('after a pass that asks for it, it looks again by itself, as often as allowed', async () => {
  const { queue, begun, planned, elapse, last } = aQueue({ mostLooks: 3 });
  void queue.hint(ref('a'), 'nudge');
  for (let look = 0; look < 10; look += 1) {
    last().end({ again: true });
    await turn();
    elapse();
  }
  assert.deepEqual(
    begun.map(({ trigger }) => trigger),
    ['nudge', 'look again', 'look again', 'look again'],
  );
  assert.equal(planned.size, 0);
});

test('a hint takes the place of the planned look and begins the count anew', async () => {
  const { queue, begun, planned, elapse, last } = aQueue({ mostLooks: 1 });
  void queue.hint(ref('a'), 'one');
  last().end({ again: true });
  await turn();
  assert.equal(planned.size, 1);
  void queue.hint(ref('a'), 'two');
  assert.equal(planned.size, 0);
  last().end({ again: true });
  await turn();
  elapse();
  assert.deepEqual(
    begun.map(({ trigger }) => trigger),
    ['one', 'two', 'look again'],
  );
});

test('a pass that breaks rejects its hints, is not repeated, and harms no later one', async () => {
  const { queue, last, planned } = aQueue();
  const broken = queue.hint(ref('a'), '');
  last().fail(new TypeError('a bug'));
  await assert.rejects(broken, TypeError);
  await turn();
  assert.equal(planned.size, 0);
  const next = queue.hint(ref('a'), '');
  last().end();
  assert.equal((await next).state, 'Healthy');
});

test('a failed pass is looked at again though nobody asked', async () => {
  const { queue, begun, elapse, last } = aQueue();
  void queue.hint(ref('a'), '');
  last().end({ failure: new Retryable('conflict') });
  await turn();
  elapse();
  assert.equal(begun.length, 2);
});

test('a drain finishes what runs and what waits, and plans nothing more', async () => {
  const { queue, begun, planned, last } = aQueue({ concurrency: 1 });
  void queue.hint(ref('looking'), '');
  last().end({ again: true });
  await turn();
  assert.equal(planned.size, 1);
  void queue.hint(ref('a'), '');
  void queue.hint(ref('b'), '');
  let drained = false;
  const drain = queue.drain().then(() => {
    drained = true;
  });
  assert.equal(planned.size, 0);
  last().end({ again: true });
  await turn();
  assert.equal(drained, false);
  last().end({ again: true });
  await drain;
  assert.equal(begun.length, 3);
  assert.equal(planned.size, 0);
});

test('a drain of an idle queue ends at once', async () => {
  await aQueue().queue.drain();
});
