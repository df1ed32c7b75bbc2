import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LABEL } from '../resource/names.ts';
import { writeOf } from './writes.ts';

const APPLY = 'application/apply-patch+yaml';

test('says what was written, and how', () => {
  const of = (plural: string) => `/api/v1/namespaces/shop/${plural}`;
  const mysql = '/apis/example.com/v1alpha1/namespaces/shop/mysqls/db';
  const said = [
    writeOf({ method: 'POST', path: of('secrets'), body: { kind: 'Secret', metadata: { name: 'db' } } }),
    writeOf({ method: 'PATCH', path: of('services/db'), body: { kind: 'Service' }, contentType: APPLY }),
    writeOf({ method: 'PATCH', path: `${mysql}/status`, body: { kind: 'Mysql' }, contentType: APPLY }),
    writeOf({ method: 'PATCH', path: mysql, body: {}, contentType: 'application/merge-patch+json' }),
    writeOf({
      method: 'PATCH',
      path: of('pods/db-0'),
      body: { kind: 'Pod', metadata: { labels: { [LABEL.role]: 'primary' } } },
      contentType: APPLY,
    }),
    writeOf({ method: 'DELETE', path: of('pods/db-0'), body: { kind: 'DeleteOptions' } }),
    writeOf({
      method: 'POST',
      path: '/apis/events.k8s.io/v1/namespaces/shop/events',
      body: {
        kind: 'Event',
        type: 'Normal',
        reason: 'Healthy',

        regarding: { name: 'db' },
      },
    }),
  ].map((write) => `${write?.object} ${write?.verb}`);
  assert.deepEqual(said, [
    'Secret shop/db created',
    'Service shop/db applied',
    'Mysql shop/db status applied',
    'mysqls shop/db patched',
    'Pod shop/db-0 applied: primary',
    'pods shop/db-0 deleted',
    'Event shop/db Normal Healthy',
  ]);
});

test('a read is no write', () => {
  assert.equal(writeOf({ method: 'GET', path: '/api/v1/pods' }), undefined);
});
