import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { Permanent, Retryable } from '../errors.ts';
import { type Request, sender, toFailure } from './request.ts';

const servers: Server[] = [];
after(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

/** A server that answers by `listener`, and a sender to it. */
async function against(listener: RequestListener) {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = new URL(`http://127.0.0.1:${port}`);
  const send = sender({ server: url, options: async () => ({ headers: { authorization: 'Bearer t' } }) });
  return { send: (request: Request, signal = AbortSignal.timeout(5_000)) => send(request, signal), server };
}

const get: Request = { method: 'GET', path: '/api/v1/namespaces/shop/pods/a' };
const retryable = (code?: number) => (error: unknown) => error instanceof Retryable && error.code === code;

test('a request carries credentials, query, type and body; the answer comes parsed', async () => {
  const { send } = await against(async (request, response) => {
    const body = (await request.toArray()).join('');
    const { method, url, headers } = request;
    response.end(
      JSON.stringify({
        method,
        url,
        authorization: headers.authorization,
        type: headers['content-type'],
        body,
      }),
    );
  });
  const answer = await send({
    method: 'PATCH',
    path: '/apis/x',
    query: { fieldManager: 'mysql-operator', labelSelector: 'a=b,c=d' },
    body: { ä: 1 },
    contentType: 'application/apply-patch+yaml',
  });
  assert.deepEqual(answer, {
    method: 'PATCH',
    url: '/apis/x?fieldManager=mysql-operator&labelSelector=a%3Db%2Cc%3Dd',
    authorization: 'Bearer t',
    type: 'application/apply-patch+yaml',
    body: '{"ä":1}',
  });
});

test('one connection serves many requests', async () => {
  let connections = 0;
  const { send, server } = await against((_request, response) => void response.end('{}'));
  server.on('connection', () => {
    connections += 1;
  });
  for (let count = 0; count < 20; count += 1) await send(get);
  assert.equal(connections, 1);
});

test('a kept connection that the server closes under our hands is not our failure', async () => {
  let served = 0;
  const { send } = await against((request, response) => {
    served += 1;
    if (served === 2) request.socket.resetAndDestroy();
    else response.end('{"ok":true}');
  });
  await send(get);
  assert.deepEqual(await send(get), { ok: true });
  assert.equal(served, 3);
});

test('a fresh connection that breaks is a failure to try again', async () => {
  const { send } = await against((request) => void request.socket.resetAndDestroy());
  await assert.rejects(send(get), retryable());
});

test('an absent server is a failure to try again, and the message names the request', async () => {
  const { send, server } = await against(() => undefined);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  await assert.rejects(send(get), /^Retryable: GET \/api\/v1\/namespaces\/shop\/pods\/a: .*ECONNREFUSED/);
});

test('a server that does not answer is left at the deadline', async () => {
  const { send } = await against(() => undefined);
  await assert.rejects(send(get, AbortSignal.timeout(50)), /deadline exceeded/);
});

test('an answer that stops midway, or is no JSON, is a failure to try again', async () => {
  const cut = await against((request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"half":');
    setImmediate(() => request.socket.destroy());
  });
  await assert.rejects(cut.send(get), Retryable);
  const html = await against((_request, response) => void response.end('<html>'));
  await assert.rejects(html.send(get), Retryable);
});

describe('429', () => {
  test('is tried once more after the pause that the server asks for', async () => {
    let served = 0;
    const { send } = await against((_request, response) => {
      served += 1;
      if (served === 1) response.writeHead(429, { 'retry-after': '0' }).end('{}');
      else response.end('{"ok":true}');
    });
    assert.deepEqual(await send(get), { ok: true });
  });

  test('once, not for ever', async () => {
    let served = 0;
    const { send } = await against((_request, response) => {
      served += 1;
      response.writeHead(429, { 'retry-after': '0' }).end('{"message":"too many"}');
    });
    await assert.rejects(send(get), retryable(429));
    assert.equal(served, 2);
  });

  test('with a pause longer than the deadline it ends at the deadline', async () => {
    const { send } = await against(
      (_request, response) => void response.writeHead(429, { 'retry-after': '60' }).end(),
    );
    await assert.rejects(send(get, AbortSignal.timeout(50)), /deadline exceeded/);
  });

  test('without a pause it is left to the next pass', async () => {
    let served = 0;
    const { send } = await against((_request, response) => {
      served += 1;
      response.writeHead(429).end();
    });
    await assert.rejects(send(get), retryable(429));
    assert.equal(served, 1);
  });
});

describe('which statuses may pass', () => {
  for (const status of [401, 408, 409, 410, 425, 429, 500, 502, 503, 504]) {
    test(`${status} may`, () => assert.ok(toFailure('GET /x', status, '{}') instanceof Retryable));
  }
  for (const status of [400, 403, 404, 405, 415, 422]) {
    test(`${status} may not`, () => assert.ok(toFailure('GET /x', status, '{}') instanceof Permanent));
  }
  test('500 for a field that the schema does not know may not', () => {
    const body = '{"message":"failed to create typed patch object: .spec.x: field not declared in schema"}';
    assert.ok(toFailure('PATCH /x', 500, body) instanceof Permanent);
  });
});

test("the message is the API server's own, or what a proxy said", () => {
  const quota = toFailure('POST /x', 403, '{"kind":"Status","message":"exceeded quota: few"}');
  assert.equal(quota.message, 'POST /x: 403 exceeded quota: few');
  assert.equal(toFailure('GET /x', 502, 'bad gateway').message, 'GET /x: 502 bad gateway');
});
