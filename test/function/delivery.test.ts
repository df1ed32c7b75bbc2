/** The delivery contract: what the function answers to whom, on the wire. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Permanent, Retryable } from '../../src/errors.ts';
import { refKey } from '../../src/resource/names.ts';
import { type Answer, aServer, nudge, settled } from './server.ts';

const MIB = 1_024 * 1_024;
const structured = (subject: string) =>
  JSON.stringify({ specversion: '1.0', id: '1', source: 'me', type: 'com.example.mysql.nudge', subject });
const assertAnswer = (answer: Answer, status: number) => {
  assert.equal(answer.status, status);
  assert.equal(answer.body, '');
};

/** A server that notes what it was asked to look at. */
async function aRecorder() {
  const looked: string[] = [];
  const server = await aServer(async (ref) => {
    looked.push(refKey(ref));
    return settled;
  });
  return { looked, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

describe('events', () => {
  test('a binary event is 204 without a body once its pass has ended', async () => {
    await using recorder = await aRecorder();
    assertAnswer(await recorder.server.post(nudge('shop/orders')), 204);
    assert.deepEqual(recorder.looked, ['shop/orders']);
  });

  test('a structured event is as good, compressed too, and so is any path', async () => {
    await using recorder = await aRecorder();
    const headers = { 'content-type': 'application/cloudevents+json; charset=UTF-8' };
    assertAnswer(await recorder.server.post({ headers, body: structured('shop/a') }), 204);
    const zipped = {
      headers: { ...headers, 'content-encoding': 'gzip' },
      body: gzipSync(structured('shop/b')),
    };
    assertAnswer(await recorder.server.post({ ...zipped, path: '/any/path?x=1' }), 204);
    assert.deepEqual(recorder.looked, ['shop/a', 'shop/b']);
  });

  test('an event that concerns nobody is 204 and no pass', async () => {
    await using recorder = await aRecorder();
    assertAnswer(await recorder.server.post(nudge('x', { 'ce-type': 'com.github.push' })), 204);
    assert.deepEqual(recorder.looked, []);
  });

  test('an object of the largest size that etcd takes is read', async () => {
    await using recorder = await aRecorder();
    assertAnswer(
      await recorder.server.post({ ...nudge('shop/orders'), body: Buffer.alloc(1.5 * MIB, 'a') }),
      204,
    );
  });
});

describe('what will never be taken is 400 without a body, and the reason is in the log', () => {
  const event = nudge('shop/orders').headers ?? {};
  const batch = { ...event, 'content-type': 'application/cloudevents-batch+json' };
  const json = { 'content-type': 'application/cloudevents+json' };
  const cases: Record<string, Parameters<Awaited<ReturnType<typeof aServer>>['post']>[0]> = {
    'no CloudEvent': { body: '{}' },
    'an empty request': {},
    'a missing attribute': { headers: { ...event, 'ce-id': '' } },
    'a subject that names nothing': nudge('nothing'),
    'a subject that leaves its namespace': nudge('shop/../kube-system'),
    'a batch': { headers: batch, body: `[${structured('shop/a')}]` },
    'a structured event that is no JSON': { headers: json, body: '{' },
    'a structured event that is a list': { headers: json, body: `[${structured('shop/a')}]` },
    'an oversized request': { headers: event, body: Buffer.alloc(3 * MIB + 1) },
    'a small request that unpacks to an oversized one': {
      headers: { ...event, 'content-encoding': 'gzip' },
      body: gzipSync(Buffer.alloc(64 * MIB)),
    },
    'an encoding that nobody knows': { headers: { ...event, 'content-encoding': 'rot13' }, body: 'x' },
    'an encoding that is a lie': { headers: { ...event, 'content-encoding': 'gzip' }, body: 'x' },
    'a path that is no UTF-8': { ...nudge('shop/orders'), path: '/%E0%A4%A' },
  };
  for (const [what, sent] of Object.entries(cases)) {
    test(what, async () => {
      await using recorder = await aRecorder();
      assertAnswer(await recorder.server.post(sent), 400);
      assert.deepEqual(recorder.looked, []);
      const [line] = recorder.server.log;
      assert.equal(line?.level, 'warn');
      assert.ok(typeof line?.why === 'string' && line.why.length > 0);
    });
  }

  for (const [what, text] of [
    ['what is no HTTP', 'hello\r\n\r\n'],
    ['headers without end', `POST / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(64 * 1_024)}\r\n\r\n`],
  ] as const) {
    test(what, async () => {
      await using recorder = await aRecorder();
      const socket = connect(recorder.server.port, '127.0.0.1');
      socket.end(text);
      const answer = (await socket.toArray()).join('');
      assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n(?:[^\r]+\r\n)+\r\n$/);
    });
  }
});

describe('probes', () => {
  test('GET /healthz and GET / are 200 without a body', async () => {
    await using recorder = await aRecorder();
    for (const path of ['/healthz', '/'])
      assertAnswer(await recorder.server.post({ method: 'GET', path }), 200);
  });

  test('any other method or path is 405', async () => {
    await using recorder = await aRecorder();
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE']) {
      assertAnswer(await recorder.server.post({ ...nudge('shop/orders'), method }), 405);
    }
    assertAnswer(await recorder.server.post({ method: 'GET', path: '/metrics' }), 405);
    assert.deepEqual(recorder.looked, []);
  });
});

describe('how a pass ends', () => {
  const failing = (error: Error) => async () => {
    throw error;
  };

  test('a failure that may pass is 503 with Retry-After, whether the pass could begin or not', async () => {
    const failure = new Retryable('conflict');
    for (const reconcile of [async () => ({ ...settled, failure }), failing(failure)]) {
      await using server = await aServer(reconcile);
      const answer = await server.post(nudge('shop/orders'));
      assertAnswer(answer, 503);
      assert.equal(answer.headers['retry-after'], '1');
      assert.equal(server.log[0]?.failure, 'conflict');
    }
  });

  test('a failure for good is 204: sending it again would not help', async () => {
    const failure = new Permanent('exceeded quota');
    for (const reconcile of [async () => ({ ...settled, failure }), failing(failure)]) {
      await using server = await aServer(reconcile);
      assertAnswer(await server.post(nudge('shop/orders')), 204);
      assert.equal(server.log[0]?.failure, 'exceeded quota');
    }
  });

  test('a fault of ours is 503, never 500, and the log has its stack', async () => {
    await using server = await aServer(failing(new TypeError('x is not a function')));
    assertAnswer(await server.post(nudge('shop/orders')), 503);
    assert.match(JSON.stringify(server.log[0]?.err), /TypeError.*delivery\.test\.ts/);
  });

  test('every pass is one line: cluster, uid, trigger, state, writes, milliseconds', async () => {
    await using server = await aServer(async () => ({ ...settled, writes: 3, message: 'all well' }));
    await server.post(nudge('shop/orders'));
    const [line, ...others] = server.log;
    assert.deepEqual(others, []);
    const { cluster, uid, trigger, state, writes, msg } = line ?? {};
    assert.deepEqual(
      { cluster, uid, trigger, state, writes, msg },
      {
        cluster: 'shop/orders',
        uid: 'u',
        trigger: 'com.example.mysql.nudge',
        state: 'Healthy',
        writes: 3,
        msg: 'all well',
      },
    );
    assert.equal(typeof line?.ms, 'number');
  });

  test('a pass has a deadline, and its end is a failure to try again', async () => {
    const reconcile = (_ref: unknown, signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () =>
          reject(new Retryable('deadline exceeded', { cause: signal.reason })),
        );
      });
    await using server = await aServer(reconcile, { passDeadline: 20, mostLooks: 0 });
    assertAnswer(await server.post(nudge('shop/orders')), 503);
  });
});

/** Passes that end when the test says so. */
function held() {
  const begun: string[] = [];
  const running = new Map<string, () => void>();
  return {
    /** In the order in which they began. */
    begun,
    end: (key: string) => running.get(key)?.(),
    reconcile: async (ref: Parameters<typeof refKey>[0]) => {
      const key = refKey(ref);
      assert.ok(!running.has(key), `two passes over ${key} at once`);
      begun.push(key);
      await new Promise<void>((resolve) => running.set(key, resolve));
      running.delete(key);
      return settled;
    },
    untilBegun: async (key: string, times = 1) => {
      while (begun.filter((one) => one === key).length < times) await turn();
    },
  };
}

describe('many events', () => {
  test('twenty at once for one Mysql are two passes, one after the other', async () => {
    const passes = held();
    await using server = await aServer(passes.reconcile);
    // on one connection, so that the last one has arrived when the marker has
    const socket = connect(server.port, '127.0.0.1');
    for (const subject of [...Array(20).fill('shop/orders'), 'shop/marker']) {
      const headers = Object.entries(nudge(subject).headers ?? {}).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      );
      socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${headers.join('')}\r\n`);
    }
    await passes.untilBegun('shop/marker');
    assert.deepEqual(passes.begun, ['shop/orders', 'shop/marker']);
    passes.end('shop/marker');
    passes.end('shop/orders');
    await passes.untilBegun('shop/orders', 2);
    passes.end('shop/orders');
    let answers = '';
    for await (const chunk of socket) {
      answers += chunk;
      if (answers.match(/HTTP\/1\.1 204 No Content/g)?.length === 21) break;
    }
    assert.deepEqual(passes.begun, ['shop/orders', 'shop/marker', 'shop/orders']);
  });

  test('a cluster that hangs does not hold up the others', async () => {
    const hanging = Promise.withResolvers<void>();
    await using server = await aServer(async ({ name }) => {
      if (name === 'hangs') await hanging.promise;
      return settled;
    });
    const slow = server.post(nudge('shop/hangs'));
    for (const name of ['a', 'b', 'c']) assertAnswer(await server.post(nudge(`shop/${name}`)), 204);
    hanging.resolve();
    assertAnswer(await slow, 204);
  });
});

describe('the reply budget', () => {
  test('a pass that takes longer is answered 204 and goes on to its end', async () => {
    const passes = held();
    await using server = await aServer(passes.reconcile, { replyBudget: 20 });
    assertAnswer(await server.post(nudge('shop/orders')), 204);
    assert.equal(server.log.length, 0);
    passes.end('shop/orders');
    while (server.log.length === 0) await turn();
    assert.equal(server.log[0]?.state, 'Healthy');
  });
});

describe('the end', () => {
  test('a pass that runs is finished and its event is answered; nothing new is taken', async () => {
    const passes = held();
    const server = await aServer(passes.reconcile);
    const answer = server.post(nudge('shop/orders'));
    await passes.untilBegun('shop/orders');
    const closed = server.close();
    await assert.rejects(server.post(nudge('shop/other')), /ECONNREFUSED/);
    passes.end('shop/orders');
    assertAnswer(await answer, 204);
    assert.equal(await closed, true);
  });

  test('a pass that was answered already is waited for', async () => {
    const passes = held();
    const server = await aServer(passes.reconcile, { replyBudget: 1 });
    await server.post(nudge('shop/orders'));
    let ended = false;
    const closed = server.close().then((drained) => {
      ended = true;
      return drained;
    });
    await turn();
    assert.equal(ended, false);
    passes.end('shop/orders');
    assert.equal(await closed, true);
  });

  test('what takes longer than the drain may is left', async () => {
    const passes = held();
    const server = await aServer(passes.reconcile, { replyBudget: 1, drainDeadline: 10 });
    await server.post(nudge('shop/orders'));
    assert.equal(await server.close(), false);
    passes.end('shop/orders');
  });

  test('a client that never ends its request does not hold up the end for long', async () => {
    const server = await aServer(async () => settled, { drainDeadline: 10 });
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => undefined);
    await new Promise<void>((resolve) =>
      socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf', () => resolve()),
    );
    await server.close();
    socket.destroy();
  });
});
