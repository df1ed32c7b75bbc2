import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Malformed, parseEvent } from './parse.ts';

const binary = {
  'content-type': 'application/json',
  'ce-specversion': '1.0',
  'ce-id': '1',
  'ce-source': 'me',
  'ce-type': 'com.example.mysql.nudge',
  'ce-subject': 'shop/orders',
};
const structured = {
  specversion: '1.0',
  id: '1',
  source: 'me',
  type: 'dev.knative.apiserver.ref.add',
  subject: '/apis/v1/namespaces/shop/pods/orders-0',
  kind: 'Pod',
  apiversion: 'v1',
  name: 'orders-0',
  namespace: 'shop',
};
const structuredHeaders = { 'content-type': 'application/cloudevents+json' };
const without = (object: Record<string, string>, key: string) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));

describe('binary mode', () => {
  test('attributes and extensions come from the headers', () => {
    const hint = parseEvent(
      { ...binary, 'ce-kind': 'Mysql', 'ce-name': 'orders', 'ce-namespace': 'shop' },
      '',
    );
    assert.deepEqual(hint, {
      type: 'com.example.mysql.nudge',
      subject: 'shop/orders',
      kind: 'Mysql',
      apiversion: undefined,
      name: 'orders',
      namespace: 'shop',
    });
  });

  test('the payload is not read: whatever it is, the event is understood', () => {
    for (const body of ['', '{', '\u0000', '{"name":"another"}', '[]']) {
      assert.equal(parseEvent(binary, body).subject, 'shop/orders');
    }
  });

  test('a content type is not needed, and none of its forms matters', () => {
    assert.equal(parseEvent(without(binary, 'content-type'), '').subject, 'shop/orders');
    assert.equal(
      parseEvent({ ...binary, 'content-type': 'Application/JSON; Charset=UTF-8' }, '{').subject,
      'shop/orders',
    );
  });

  for (const name of ['ce-specversion', 'ce-id', 'ce-source', 'ce-type']) {
    test(`without ${name} it is malformed`, () => {
      assert.throws(() => parseEvent(without(binary, name), ''), Malformed);
      assert.throws(() => parseEvent({ ...binary, [name]: '' }, ''), Malformed);
    });
  }

  test('another version of CloudEvents is malformed', () => {
    assert.throws(() => parseEvent({ ...binary, 'ce-specversion': '0.3' }, ''), Malformed);
  });
});

describe('structured mode', () => {
  const parse = (body: unknown, contentType = 'application/cloudevents+json') =>
    parseEvent({ 'content-type': contentType }, typeof body === 'string' ? body : JSON.stringify(body));

  test('attributes and extensions come from the body', () => {
    const { type, ...rest } = parse(structured);
    assert.equal(type, 'dev.knative.apiserver.ref.add');
    assert.deepEqual(rest, {
      subject: '/apis/v1/namespaces/shop/pods/orders-0',
      kind: 'Pod',
      apiversion: 'v1',
      name: 'orders-0',
      namespace: 'shop',
    });
  });

  test('a charset, capitals, a leading line break and binary data do no harm', () => {
    assert.equal(parse(structured, 'application/CloudEvents+JSON; charset=UTF-8').name, 'orders-0');
    assert.equal(parse(`\n${JSON.stringify(structured)}\n`).name, 'orders-0');
    assert.equal(
      parse({ ...structured, data_base64: 'AAAA', datacontenttype: 'application/octet-stream' }).name,
      'orders-0',
    );
  });

  test('what is no JSON object with the required attributes is malformed', () => {
    const bodies = ['', '{', 'null', '[]', '"text"', '1', JSON.stringify([structured])];
    for (const body of bodies) assert.throws(() => parse(body), Malformed, body);
    for (const name of ['specversion', 'id', 'source', 'type']) {
      assert.throws(() => parse(without(structured, name)), Malformed, name);
      assert.throws(() => parse({ ...structured, [name]: 1 }), Malformed, name);
    }
  });

  test('an extension that is no text is as good as absent', () => {
    assert.equal(parse({ ...structured, name: 1, subject: 'x' }).name, undefined);
  });
});

test('batches and other formats are malformed, and the message says what to do', () => {
  const batch = { 'content-type': 'application/cloudevents-batch+json' };
  assert.throws(() => parseEvent(batch, JSON.stringify([structured])), /post one event a request/);
  const avro = { 'content-type': 'application/cloudevents+avro' };
  assert.throws(() => parseEvent(avro, ''), /use application\/cloudevents\+json, or binary mode/);
});

test('a request that is no CloudEvent at all is malformed', () => {
  assert.throws(() => parseEvent({}, ''), Malformed);
  assert.throws(() => parseEvent(structuredHeaders, ''), Malformed);
});
