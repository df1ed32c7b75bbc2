import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { poster } from './post.ts';

const servers: Server[] = [];
after(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

/** A function that answers with these, one after the other. */
async function aFunction(...answers: ((response: ServerResponse) => void)[]) {
  const received: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    received.push({ ...request.headers, method: request.method });
    answers[Math.min(received.length, answers.length) - 1]?.(response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sink = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const options = { sink, extensions: { team: 'db' }, clock: () => new Date('2026-01-01T00:00:00Z') };
  const post = poster(options);
  const ref = { namespace: 'shop', name: 'orders' };
  return { received, server, send: (signal = AbortSignal.timeout(20_000)) => post(ref, signal) };
}
const status =
  (code: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(code, headers).end();

test('the event names the Mysql, says that it is a resync, and carries the extensions asked for', async () => {
  const { received, send } = await aFunction(status(204));
  assert.equal(await send(), undefined);
  const [headers] = received;
  assert.equal(headers?.method, 'POST');
  assert.equal(headers?.['ce-type'], 'com.example.mysql.resync');
  assert.equal(headers?.['ce-subject'], 'shop/orders');
  assert.equal(headers?.['ce-specversion'], '1.0');
  assert.equal(headers?.['ce-time'], '2026-01-01T00:00:00.000Z');
  assert.equal(headers?.['ce-team'], 'db');
});

test('503 is tried again after the pause that is asked for, as the same event', async () => {
  const { received, send } = await aFunction(status(503, { 'retry-after': '0.01' }), status(204));
  assert.equal(await send(), undefined);
  assert.equal(received.length, 2);
  assert.equal(received[0]?.['ce-id'], received[1]?.['ce-id']);
});

test('after three tries it gives up and says why', async () => {
  const { received, send } = await aFunction(status(503, { 'retry-after': '0.01' }));
  assert.equal(await send(), 'the answer was 503');
  assert.equal(received.length, 3);
});

test('a refusal is not tried again', async () => {
  const { received, send } = await aFunction(status(400));
  assert.equal(await send(), 'the answer was 400');
  assert.equal(received.length, 1);
});

test('an absent function is tried again and then named as what it is', async () => {
  const { server, send } = await aFunction(status(204));
  await new Promise<void>((resolve) => server.close(() => resolve()));
  assert.match(String(await send()), /ECONNREFUSED/);
});

test('the end of the run ends the waiting too', async () => {
  const { received, send } = await aFunction(status(503, { 'retry-after': '60' }));
  const controller = new AbortController();
  const sent = send(controller.signal);
  while (received.length === 0) await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  assert.equal(typeof (await sent), 'string');
  assert.ok(received.length <= 2);
});
