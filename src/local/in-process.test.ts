import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import express from 'express';
import { Permanent, Retryable } from '../errors.ts';
import { type Request, type Send, sender } from '../kubernetes/request.ts';
import { API_VERSION } from '../resource/names.ts';
import { type ApiServer, handlerFor, serveApi } from './api/server.ts';
import { EmbeddedCluster } from './cluster.ts';
import { exchange, sendTo } from './in-process.ts';

const signal = AbortSignal.timeout(60_000);
const MYSQLS = `/apis/${API_VERSION}/namespaces/default/mysqls`;
const mysql = (spec: unknown, metadata = {}) => ({
  apiVersion: API_VERSION,
  kind: 'Mysql',
  metadata: { name: 'db', namespace: 'default', ...metadata },
  spec,
});
const apply = (body: unknown): Request => ({
  method: 'PATCH',
  path: `${MYSQLS}/db`,
  query: { fieldManager: 'test' },
  contentType: 'application/apply-patch+yaml',
  body,
});

/** Reads, writes and refusals of every sort, each resting on those before. */
const CONVERSATION: readonly Request[] = [
  { method: 'GET', path: `${MYSQLS}/db` },
  apply(mysql({ size: 3, image: 'mysql:8.4' })),
  { method: 'GET', path: MYSQLS, query: { labelSelector: 'app=mysql' } },
  { method: 'GET', path: MYSQLS, query: { limit: '1' } },
  apply(mysql({ size: 10, image: 'mysql:8.4' })),
  apply(mysql({ size: 3, image: 'mysql:8.4', nonsense: true })),
  apply(mysql({ size: 1, image: 'mysql:8.4' }, { resourceVersion: '1' })),
  apply(mysql({ size: 1, image: 'mysql:8.4' }, { uid: 'another' })),
  { method: 'POST', path: MYSQLS, body: mysql({ size: 3, image: 'mysql:8.4' }) },
  { ...apply(mysql({ size: 1, image: 'ü' })), contentType: 'application/merge-patch+json' },
  { ...apply([]), contentType: 'text/plain' },
  { method: 'DELETE', path: `${MYSQLS}/db`, body: { preconditions: { uid: 'another' } } },
  { method: 'DELETE', path: `${MYSQLS}/db` },
  { method: 'DELETE', path: `${MYSQLS}/db` },
  { method: 'GET', path: '/apis/example.com/v9/nothing' },
];

function aCluster(): EmbeddedCluster {
  let uids = 0;
  const cluster = new EmbeddedCluster({
    clock: () => new Date(0),
    uid: () => {
      uids += 1;
      return `uid-${uids}`;
    },
  });
  cluster.installCrd();
  return cluster;
}

const answerOf = (send: Send, request: Request): Promise<unknown> =>
  send(request, signal).catch((error: unknown) => {
    assert.ok(error instanceof Permanent || error instanceof Retryable);
    return [error.name, error.code, error.message];
  });

describe('the API server says the same', () => {
  let api: ApiServer;
  let overHttp: Send;
  let inProcess: Send;
  before(async () => {
    api = await serveApi(aCluster().api);
    overHttp = sender({ server: new URL(api.url), options: async () => ({}) });
    inProcess = sendTo(handlerFor(aCluster().api));
  });
  after(() => api.close());

  test('with a socket in between and without one, word for word', async () => {
    for (const request of CONVERSATION) {
      const expected = await answerOf(overHttp, request);
      assert.deepEqual(await answerOf(inProcess, request), expected, `${request.method} ${request.path}`);
    }
  });
});

test('a listener gets headers and body, and gives status and headers', async () => {
  const app = express();
  app.post('/a', express.text({ type: () => true }), (request, response) => {
    response
      .status(201)
      .set('x-said', `${request.get('x-say')} ${request.query.q}`)
      .end(request.body);
  });
  const sent = { method: 'POST', url: '/a?q=1', headers: { 'x-say': 'hello' }, body: 'wörld' };
  const { status, headers, text } = await exchange(app, sent);
  assert.deepEqual([status, headers['x-said'], text], [201, 'hello 1', 'wörld']);
  const { status: none, text: nothing } = await exchange(app, { ...sent, method: 'GET', body: undefined });
  assert.equal(none, 404);
  assert.match(nothing, /Cannot GET/);
});

test('a connection that is closed without an answer is an error', async () => {
  const closing = exchange((request) => request.socket.destroy(), { method: 'GET', url: '/', headers: {} });
  await assert.rejects(closing, /socket hang up/);
});
