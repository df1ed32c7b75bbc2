import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { tar } from './tar.ts';

const long = `${'folder/'.repeat(20)}file`;
const archive = tar([
  { path: 'a', mode: 0o755, type: 'folder' },
  { path: 'a/b.txt', mode: 0o640, type: 'file', content: Buffer.from('hello') },
  { path: 'a/empty', mode: 0o644, type: 'file' },
  { path: 'a/block', mode: 0o644, type: 'file', content: Buffer.alloc(1_024, 'x') },
  { path: long, mode: 0o644, type: 'file', content: Buffer.from('deep') },
]);
const unpack = (...args: string[]) => execFileSync('tar', args, { input: archive, encoding: 'utf8' });

test('tar itself lists what was packed, with modes and sizes, long names too', () => {
  const listed = unpack('-tv', '--numeric-owner', '--utc')
    .trim()
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' '));
  assert.deepEqual(listed, [
    'drwxr-xr-x 0/0 0 1970-01-01 00:00 a/',
    '-rw-r----- 0/0 5 1970-01-01 00:00 a/b.txt',
    '-rw-r--r-- 0/0 0 1970-01-01 00:00 a/empty',
    '-rw-r--r-- 0/0 1024 1970-01-01 00:00 a/block',
    `-rw-r--r-- 0/0 4 1970-01-01 00:00 ${long}`,
  ]);
});

test('contents come out as they went in', () => {
  assert.equal(unpack('-xO', 'a/b.txt'), 'hello');
  assert.equal(unpack('-xO', 'a/block'), 'x'.repeat(1_024));
  assert.equal(unpack('-xO', long), 'deep');
});
