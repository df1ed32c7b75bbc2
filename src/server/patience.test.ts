import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Permanent, Retryable } from '../errors.ts';
import type { Pass } from '../pass.ts';
import { type Looks, NO_LOOKS, nextLook } from './patience.ts';

const patience = { lookAgainAfter: 500, mostLooks: 240 };
const settled: Pass = {
  state: 'Healthy',
  message: '',
  uid: 'u',
  writes: 0,
  again: false,
  failure: undefined,
};
const underWay: Pass = { ...settled, state: 'Joining', again: true };
const failing: Pass = { ...settled, failure: new Retryable('conflict') };

/** The pauses when every pass is the same one. */
function pausesOf(pass: Pass): number[] {
  const pauses: number[] = [];
  let so: Looks = NO_LOOKS;
  for (let next = nextLook(pass, so, patience); next; next = nextLook(pass, so, patience)) {
    pauses.push(next.after);
    so = next;
  }
  return pauses;
}

test('nothing to wait for: no look', () => {
  assert.equal(nextLook(settled, NO_LOOKS, patience), undefined);
});

test('while something is under way it looks after half a second, then ever more seldom, and not for ever', () => {
  const pauses = pausesOf(underWay);
  assert.equal(pauses.length, 240);
  assert.equal(pauses[0], 500);
  assert.ok(pauses.every((pause, index) => index === 0 || pause >= (pauses[index - 1] ?? 0)));
  assert.equal(pauses.at(-1), 5_000);
});

test('a failure that may pass is tried three more times, with longer pauses', () => {
  assert.deepEqual(pausesOf(failing), [500, 1_000, 2_000]);
});

test('a failure while something is under way slows the looks down and does not end them', () => {
  const pauses = pausesOf({ ...underWay, failure: new Retryable('does not answer') });
  assert.deepEqual(pauses.slice(0, 5), [500, 1_000, 2_000, 4_000, 5_000]);
  assert.equal(pauses.length, 240);
});

test('a success in between begins the count of failures anew', () => {
  const first = nextLook(failing, NO_LOOKS, patience);
  assert.equal(first?.failures, 1);
  assert.equal(nextLook(underWay, first ?? NO_LOOKS, patience)?.failures, 0);
});

test('what is refused for good is not tried again', () => {
  assert.equal(nextLook({ ...settled, failure: new Permanent('quota') }, NO_LOOKS, patience), undefined);
});
