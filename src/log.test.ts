import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from './log.ts';

function logged(write: (log: ReturnType<typeof createLog>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  write(createLog('info', { write: (line) => void lines.push(line) }));
  return lines.map((line) => JSON.parse(line));
}

test('a line has a time, its level as a word, and what was said', () => {
  const [line] = logged((log) => log.info({ cluster: 'a/b' }, 'Healthy'));
  assert.equal(line?.level, 'info');
  assert.equal(line?.msg, 'Healthy');
  assert.equal(line?.cluster, 'a/b');
  assert.match(String(line?.time), /^\d{4}-\d\d-\d\dT/);
  assert.equal(line?.pid, undefined);
});

test('passwords, Secret data and bearer tokens are not written, even when an object is logged whole', () => {
  const access = { operator: { user: 'operator', password: 'hunter2' } };
  const secret = { kind: 'Secret', data: { key: 'aHVudGVyMg==' }, stringData: { key: 'hunter2' } };
  const request = { headers: { authorization: 'Bearer hunter2' } };
  const lines = logged((log) => log.info({ access, secret, request, password: 'hunter2' }, 'whole'));
  assert.doesNotMatch(JSON.stringify(lines), /hunter2|aHVudGVyMg/);
});
