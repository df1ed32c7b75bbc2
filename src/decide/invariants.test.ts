/** What must hold whatever is observed, on random clusters in random trouble. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { MemberState } from '../mysql/members.ts';
import { ANNOTATION, LABEL, podHost, podName } from '../resource/names.ts';
import { decide } from './decide.ts';
import { inSomeGroup } from './group.ts';
import { aCluster, type ClusterBuilder, gtids, ownGtids, settings, uuidOf, writtenSet } from './testing.ts';
import type { Action } from './verdict.ts';

const MOST = 4;
/** Mostly `usual`, so that trouble comes alone as often as in company. */
const mostly = <T>(usual: T, ...others: readonly T[]) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );
const AS_MOST = 'as most';
const sets = [gtids('1-5'), `${gtids('1-9')},${ownGtids(1, '1')}`, ''] as const;

const member = fc.record({
  says: mostly<string>(AS_MOST, 'view', 'other view', 'OFFLINE', 'ERROR', 'nothing', 'nonsense'),
  executed: mostly<string>(gtids('1-9'), ...sets),
  received: mostly<string>('', ...sets),
  pod: mostly('up', 'missing', 'stuck', 'deleting'),
  outdated: mostly(false, true),
  labels: fc.constantFrom<Record<string, string>>(
    {},
    { [LABEL.role]: 'primary' },
    { [LABEL.role]: 'secondary', [LABEL.reads]: 'true' },
  ),
});

const troubled = fc.record({
  size: fc.nat(MOST),
  replicas: fc.option(fc.nat(MOST)),
  most: fc.constantFrom('view', 'OFFLINE'),
  members: fc.array(member, { minLength: MOST, maxLength: MOST }),
  states: fc.array(mostly<MemberState>('ONLINE', 'RECOVERING', 'UNREACHABLE'), {
    minLength: MOST,
    maxLength: MOST,
  }),
  writer: fc.nat(MOST - 1),
  record: fc.option(fc.record({ member: fc.nat(1), executed: mostly<string>(gtids('1-9'), ...sets) })),
  accepted: mostly('', 'db-0', 'db-1,db-2', 'db-0,db-1,db-2,db-3'),
  rebuild: fc.option(fc.constantFrom('db-1', 'db-2')),
  preferred: fc.option(fc.nat(1)),
  oldVolumes: fc.boolean(),
});

type Draft = typeof troubled extends fc.Arbitrary<infer D> ? D : never;

function build(draft: Draft): ClusterBuilder {
  const replicas = draft.replicas ?? draft.size;
  const spec = draft.preferred === null ? {} : { primary: draft.preferred };
  const cluster = aCluster({ size: draft.size, ...spec }).replicas(replicas);
  const ordinals = Array.from({ length: replicas }, (_, ordinal) => ordinal);
  const peers = ordinals.map((ordinal) => ({
    uuid: uuidOf(ordinal),
    host: podHost({ namespace: 'shop', name: 'db' }, podName('db', ordinal)),
    state: draft.states[ordinal] ?? 'ONLINE',
    role: ordinal === draft.writer ? ('PRIMARY' as const) : ('SECONDARY' as const),
  }));
  for (const ordinal of ordinals) {
    const { says: own, pod, outdated, labels, ...sets } = draft.members[ordinal] ?? assert.fail();
    const says = own === AS_MOST ? draft.most : own;
    if (says === 'nothing') cluster.silent(ordinal);
    else if (says === 'nonsense') cluster.offline(ordinal, 'nonsense');
    else if (says === 'OFFLINE' || says === 'ERROR')
      cluster.offline(ordinal, sets.executed, { ...sets, state: says });
    else {
      const { state, role } = peers[ordinal] ?? assert.fail();
      cluster.offline(ordinal, sets.executed, {
        ...sets,
        viewId: says,
        peers,
        state,
        role,
      });
    }
    cluster.pod(ordinal, { outdated, labels });
    if (pod === 'missing') cluster.withoutPod(ordinal);
    if (pod === 'stuck') cluster.pod(ordinal, { waiting: 'ImagePullBackOff' });
    if (pod === 'deleting') cluster.pod(ordinal, { deleting: true });
  }
  cluster.annotated({
    ...(draft.accepted ? { [ANNOTATION.acceptDataLoss]: draft.accepted } : {}),
    ...(draft.rebuild ? { [ANNOTATION.rebuild]: draft.rebuild } : {}),
  });
  if (draft.record) cluster.bootstrapped(draft.record.member, draft.record.executed);
  if (draft.oldVolumes) cluster.claims(replicas, '2020-01-01T00:00:00Z');
  return cluster;
}

const always = (property: (cluster: ClusterBuilder) => void) =>
  fc.assert(
    fc.property(troubled, (draft) => property(build(draft))),
    { numRuns: 1_000 },
  );

const of = <D extends Action['do']>(actions: readonly Action[], what: D) =>
  actions.filter((action): action is Extract<Action, { do: D }> => action.do === what);
const disruptive = (actions: readonly Action[]) =>
  actions.filter((action) => ['bootstrap', 'rebuild', 'leave', 'setPrimary', 'delete'].includes(action.do));

test('one thing is disturbed at a time, unless a group that is dead is stopped on all its members', () => {
  always((cluster) => {
    const { facts, verdict } = cluster.decide();
    const found = disruptive(verdict.actions);
    const lowered = (writtenSet(verdict)?.spec?.replicas ?? facts.replicas) < facts.replicas;
    if (verdict.state === 'QuorumLost') {
      assert.ok(found.every((action) => action.do === 'leave') && !lowered);
    } else assert.ok(found.length + (lowered ? 1 : 0) <= 1);
  });
});

test('no group is started while a member may know more, another group may live, or the choice is not recorded', () => {
  always((cluster) => {
    const { facts, verdict } = cluster.decide();
    const record = facts.observed.mysql.status?.bootstrap;
    for (const { member, expected } of of(verdict.actions, 'bootstrap')) {
      assert.equal(facts.group, undefined);
      assert.ok(facts.members.every(({ answer, name }) => answer || facts.acceptedLosses.has(name)));
      assert.ok(facts.standings.every(({ answer }) => !answer || !inSomeGroup(answer)));
      assert.deepEqual([record?.member, record?.executed], [member.name, expected]);
    }
  });
});

test('a group is left by its members only when no majority is in it, or when they are to go', () => {
  always((cluster) => {
    const { facts, verdict } = cluster.decide();
    for (const { member } of of(verdict.actions, 'leave')) {
      const leaver = facts.standings.find(({ name }) => name === member.name);
      assert.ok(
        !facts.group || !leaver?.inGroup || (leaver.ordinal >= facts.size && leaver !== facts.primary),
      );
    }
  });
});

test('a member that serves is deleted only beside others that are all settled', () => {
  always((cluster) => {
    const { facts, verdict } = cluster.decide();
    for (const { target } of of(verdict.actions, 'delete')) {
      const doomed = facts.standings.find(({ name }) => name === target.name);
      assert.ok(doomed && !doomed.leaving);
      const serves = doomed.inGroup && (doomed.state === 'ONLINE' || doomed.state === 'RECOVERING');
      assert.ok(!serves || facts.wanted.every(({ settled }) => settled));
      assert.ok(!serves || doomed !== facts.primary || facts.wanted.length === 1);
    }
  });
});

test('only settled members become the primary, join or donate', () => {
  always((cluster) => {
    const { facts, verdict } = cluster.decide();
    const settled = new Set(facts.standings.filter((one) => one.settled).map(({ name }) => name));
    for (const { target } of of(verdict.actions, 'setPrimary')) assert.ok(settled.has(target.name));
    for (const { donor } of of(verdict.actions, 'rebuild')) assert.ok(settled.has(donor.name));
    for (const { member, seeds } of of(verdict.actions, 'join')) {
      assert.ok(seeds.length > 0 && !seeds.some(({ name }) => name === member.name));
    }
  });
});

test('the membership never shrinks without a group, hibernation and members without a history apart', () => {
  always((cluster) => {
    const { facts, verdict } = cluster.decide();
    const replicas = writtenSet(verdict)?.spec?.replicas ?? facts.replicas;
    if (replicas >= facts.replicas || facts.size === 0 || facts.group) return;
    assert.equal(facts.observed.mysql.status?.bootstrap, undefined);
    assert.ok(
      facts.observed.claims.every(({ metadata }) => !metadata?.creationTimestamp?.startsWith('2020')),
    );
  });
});

test('at most one pod is labelled primary, and once the labels are written there are none to write', () => {
  always((cluster) => {
    const { facts, verdict } = cluster.decide();
    const pods = new Map(
      facts.standings.flatMap(({ name, pod }) => (pod ? [[name, pod.metadata?.labels ?? {}] as const] : [])),
    );
    for (const { target, labels } of of(verdict.actions, 'relabel')) {
      const all = Object.entries({ ...pods.get(target.name), ...labels });
      pods.set(target.name, Object.fromEntries(all.flatMap(([key, value]) => (value ? [[key, value]] : []))));
    }
    const after = {
      ...facts.observed,
      pods: facts.observed.pods.map((pod) => ({
        ...pod,
        metadata: { ...pod.metadata, labels: pods.get(pod.metadata?.name ?? '') ?? {} },
      })),
    };
    assert.deepEqual(of(decide(after, settings).verdict.actions, 'relabel'), []);
    const primaries = [...pods.values()].filter((one) => one[LABEL.role] === 'primary');
    if (facts.group) assert.ok(primaries.length <= 1);
  });
});

test('the same gives the same, and what was observed is not changed', () => {
  always((cluster) => {
    const observed = deepFreeze(cluster.observed());
    assert.deepEqual(decide(observed, settings), decide(structuredClone(observed), settings));
  });
});

/** In strict mode a write to a frozen object throws. */
function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value) && !(value instanceof Date)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}

test('every message is a sentence for a person', () => {
  always((cluster) => {
    const { message } = cluster.decide().verdict;
    assert.match(message, /^[A-Za-z0-9].*[.!]$/s);
    assert.doesNotMatch(message, /undefined|NaN|\[object|\s{2}/);
  });
});
