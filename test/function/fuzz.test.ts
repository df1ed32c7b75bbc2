/** Whatever anybody sends: it is taken, or refused as the sender's fault. Never an error of ours, never a crash, never a leak. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { MysqlRef } from '../../src/resource/names.ts';
import { aServer, nudge, settled } from './server.ts';

const REQUESTS = 2_500;
/** Bytes that the heap may grow by over all of them. */
const GROWTH = 8 * 1_024 * 1_024;
/** Milliseconds after which a request without an answer has none; the test ends its side of the connection, so none should take it. */
const SILENCE = 10_000;

const CRLF = '\r\n';

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    '../../etc/passwd',
    'shop/orders',
    'shop/orders/status',
    '__proto__',
    'constructor',
    'null',
  ),
  fc.constantFrom(
    '%00',
    '%2e%2e%2f',
    '{{jndi}}',
    'a'.repeat(300),
    'SHOP/Orders',
    ' shop/orders',
    'shop/ördërs',
    '[object Object]',
  ),
  fc.webPath(),
);
const anything = fc.oneof(hostile, fc.jsonValue(), fc.integer(), fc.constantFrom(null, true, 1e308, [], {}));

const type = fc.oneof(
  fc.constantFrom('com.example.mysql.nudge', 'com.example.mysql.resync', 'dev.knative.apiserver.ref.update'),
  fc.constantFrom('dev.knative.apiserver.resource.delete', 'dev.knative.apiserver.ref.', 'toString'),
  hostile,
);

const attributes = fc.record(
  {
    specversion: fc.oneof(fc.constant('1.0'), fc.constantFrom('0.3', '2.0', ''), anything),
    id: fc.oneof(fc.constant('1'), anything),
    source: fc.oneof(fc.constant('me'), anything),
    type: fc.oneof(type, anything),
    subject: anything,
    time: fc.oneof(fc.constant('2026-01-02T03:04:05Z'), anything),
    kind: fc.constantFrom('Mysql', 'Pod', 'Secret', '', 7),
    apiversion: fc.constantFrom('example.com/v1alpha1', 'v1', '', []),
    name: anything,
    namespace: anything,
    datacontenttype: anything,
    dataschema: anything,
    data: anything,
    data_base64: anything,
  },
  { requiredKeys: [] },
);

/** Most are whole events, and of those many name a Mysql: what lies behind the first checks is reached as well. */
const whole = { specversion: '1.0', id: '1', source: 'me' };
const event = fc.oneof(
  attributes,
  attributes.map((some) => ({ ...some, ...whole })),
  fc
    .record({ type, subject: fc.oneof(fc.constant('shop/orders'), hostile) })
    .map((some) => ({ ...some, ...whole })),
  fc
    .record({ type, subject: fc.stringMatching(/^[a-z]{1,8}\/[a-z]{1,8}$/) })
    .map((some) => ({ ...some, ...whole })),
);

/** As bytes; control characters are left to the noise, as no parser lets them through. */
const headerText = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
    .replaceAll(/[^\x20-\x7e\x80-\xff]/g, ' ')
    .slice(0, 2_000);

const mediaType = fc.constantFrom(
  'application/json',
  'application/cloudevents+json',
  'APPLICATION/CloudEvents+JSON; charset=utf-8',
  'application/cloudevents+xml',
  'application/cloudevents-batch+json',
  'application/json; charset=latin-9',
  'multipart/form-data; boundary=x',
  'text/plain',
  ';',
  '',
);

const body = fc.oneof(
  event.map((value) => Buffer.from(JSON.stringify(value))),
  anything.map((value) => Buffer.from(JSON.stringify(value) ?? '')),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom('[', '{"specversion":', '['.repeat(5_000), '\ufeff{}').map((text) => Buffer.from(text)),
  fc.integer({ min: 1, max: 5 }).map((mib) => Buffer.alloc(mib * 1_024 * 1_024, 'x')),
);

/** The first is what a well-behaved sender does, and most do. */
const mostly = <T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );

const framing = mostly('length', 'chunked', 'none', 'short', 'long', 'both', 'bad-chunks');
const encoding = mostly(undefined, 'gzip', 'gzip-lie', 'br', 'x-unknown');
const method = mostly('POST', 'GET', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE');
const path = fc.oneof(
  { weight: 4, arbitrary: fc.constant('/') },
  fc.webPath(),
  hostile.map((text) => `/${encodeURI(text.toWellFormed())}`),
  fc.constantFrom('*', '//', '/%zz'),
);

const http: fc.Arbitrary<Buffer> = fc
  .record({
    method,
    path,
    event,
    binary: fc.boolean(),
    mediaType,
    body,
    framing,
    encoding,
    more: fc.array(
      fc.tuple(
        fc.constantFrom('expect', 'host', 'ce-', 'ce-__proto__', 'cookie', 'accept', 'x-forwarded-for'),
        hostile,
      ),
      { maxLength: 1 },
    ),
  })
  .map(({ method, path, event, binary, mediaType, body, framing, encoding, more }) => {
    const payload = encoding === 'gzip' ? gzipSync(body) : body;
    const headers: [string, string][] = [
      ['host', 'function'],
      ['content-type', mediaType],
      ...Object.entries(binary ? event : {}).map(
        ([name, value]) => [`ce-${name}`, headerText(value)] as [string, string],
      ),
      ...(encoding ? [['content-encoding', encoding.replace('-lie', '')] as [string, string]] : []),
      ...more.map(([name, value]) => [name, headerText(value)] as [string, string]),
      ...framed(framing, payload.length),
    ];
    const head = [
      `${method} ${path} HTTP/1.1`,
      ...headers.map(([name, value]) => `${name}: ${value}`),
      '',
      '',
    ];
    const chunks = framing === 'chunked' || framing === 'both';
    const content = chunks
      ? Buffer.concat([
          Buffer.from(`${payload.length.toString(16)}${CRLF}`),
          payload,
          Buffer.from(`${CRLF}0${CRLF}${CRLF}`),
        ])
      : payload;
    return Buffer.concat([Buffer.from(head.join(CRLF), 'latin1'), content]);
  });

function framed(framing: string, length: number): [string, string][] {
  switch (framing) {
    case 'chunked':
    case 'bad-chunks':
      return [['transfer-encoding', 'chunked']];
    case 'none':
      return [];
    case 'short':
      return [['content-length', `${Math.floor(length / 2)}`]];
    case 'long':
      return [['content-length', `${length + 10}`]];
    case 'both':
      return [
        ['content-length', `${length}`],
        ['transfer-encoding', 'chunked'],
      ];
    default:
      return [['content-length', `${length}`]];
  }
}

const noise: fc.Arbitrary<Buffer> = fc
  .uint8Array({ minLength: 1, maxLength: 300 })
  .map((bytes) => Buffer.from(bytes));

/** The status of every answer that came before the connection ended. */
function answersTo(port: number, bytes: Buffer): Promise<number[]> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1');
    const end = () =>
      resolve([...text.matchAll(/(?:^|\r\n)HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)));
    socket.setTimeout(SILENCE, () => socket.destroy(new Error('no answer and no end')));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    // refused before all of it was read
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' || error.code === 'EPIPE' ? end() : reject(error),
    );
    socket.on('close', end);
    socket.end(bytes);
  });
}

function usedHeap(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

describe('whatever is sent', () => {
  test(`${REQUESTS} generated requests are answered with 2xx or 4xx, and leave nothing behind`, async () => {
    const looked: MysqlRef[] = [];
    const seen = new Map<number, number>();
    await using server = await aServer(async (ref) => {
      looked.push(ref);
      return settled;
    });
    const request = fc.oneof({ weight: 19, arbitrary: http }, { weight: 1, arbitrary: noise });
    const property = fc.asyncProperty(request, async (sent) => {
      const statuses = await answersTo(server.port, sent);
      for (const status of statuses) {
        seen.set(status, (seen.get(status) ?? 0) + 1);
        assert.ok(
          status < 500 && (status === 100 || status === 200 || status === 204 || status >= 400),
          `${status}`,
        );
      }
    });
    await fc.assert(property, { numRuns: 200, seed: 1 });
    server.log.length = 0;
    const heap = usedHeap();
    await fc.assert(property, { numRuns: REQUESTS - 200, seed: 2 });
    server.log.length = 0;
    const grown = usedHeap() - heap;
    assert.ok(grown < GROWTH, `the heap grew by ${grown} bytes`);
    // names that could be a path of the API server are never asked for
    for (const { namespace, name } of looked)
      assert.match(`${namespace}/${name}`, /^[a-z0-9-]{1,63}\/[a-z0-9.-]{1,253}$/);
    assert.ok((seen.get(204) ?? 0) > 100 && (seen.get(400) ?? 0) > 500, JSON.stringify([...seen]));
    assert.ok(looked.length > 20, `${looked.length} reached a pass`);
    assert.equal((await server.post(nudge('shop/orders'))).status, 204);
  });
});
