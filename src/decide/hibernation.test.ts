import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANNOTATION } from '../resource/names.ts';
import { aCluster, writtenSet } from './testing.ts';

test('the apply that stops the members also notes how many they are', () => {
  const { verdict } = aCluster({ size: 0 }).replicas(3).online().decide();
  assert.equal(verdict.state, 'Hibernating');
  assert.equal(writtenSet(verdict)?.spec?.replicas, 0);
  assert.equal(writtenSet(verdict)?.metadata?.annotations?.[ANNOTATION.members], '3');
});

test('pods that are still ending are waited for', () => {
  const { verdict } = aCluster({ size: 0 }).replicas(2).stopped().noted(2).decide();
  assert.equal(verdict.state, 'Hibernating');
  assert.equal(verdict.transitional, true);
});

test('without pods it is Hibernated, says how many members it keeps, and nothing is written', () => {
  const { verdict } = aCluster({ size: 0 }).noted(3).bootstrapped().decide();
  assert.equal(verdict.state, 'Hibernated');
  assert.match(verdict.message, /3 members/);
  assert.deepEqual(verdict.actions, []);
  assert.equal(verdict.transitional, false);
});

test('it wakes with as many members as it had, whatever size is asked for, and drops the note in the same apply', () => {
  for (const size of [1, 3, 5]) {
    const { verdict } = aCluster({ size }).replicas(0).noted(3).bootstrapped().decide();
    assert.equal(verdict.state, 'WaitingForPods');
    assert.equal(writtenSet(verdict)?.spec?.replicas, 3);
    assert.equal(writtenSet(verdict)?.metadata?.annotations?.[ANNOTATION.members], undefined);
  }
});

test('replicas raised by hand meanwhile do not lower the note', () => {
  const { verdict } = aCluster({ size: 0 }).replicas(1).noted(3).decide();
  assert.equal(writtenSet(verdict)?.metadata?.annotations?.[ANNOTATION.members], '3');
});
