import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { MemberState } from '../mysql/members.ts';
import { ANNOTATION, LABEL } from '../resource/names.ts';
import { aCluster, type ClusterBuilder, GROUP_UUID, uuidOf } from './testing.ts';
import type { Action } from './verdict.ts';

const GROUP_STARTED = { member: 'db-0', executed: '', at: '2026-01-02T03:00:00Z' };

const dones = (actions: readonly Action[]) => actions.map((action) => action.do);
const only = <D extends Action['do']>(actions: readonly Action[], what: D) =>
  actions.filter((action): action is Extract<Action, { do: D }> => action.do === what);
const disruptive = (actions: readonly Action[]) =>
  actions.filter((action) => ['bootstrap', 'rebuild', 'leave', 'setPrimary', 'delete'].includes(action.do));
const replicasIn = (actions: readonly Action[]) =>
  only(actions, 'apply').flatMap(({ kind, object }) =>
    kind === 'StatefulSet' ? [(object as { spec?: { replicas?: number } }).spec?.replicas] : [],
  );
const decided = (cluster: ClusterBuilder) => cluster.decide().verdict;

/** A settled, labelled cluster: nothing is left to do. */
const settled = (size = 3) => {
  const cluster = aCluster({ size }).online();
  for (let ordinal = 0; ordinal < size; ordinal += 1) {
    const primary = ordinal === 0;
    cluster.pod(ordinal, {
      labels: {
        [LABEL.role]: primary ? 'primary' : 'secondary',
        ...(primary && size > 1 ? {} : { [LABEL.reads]: 'true' }),
      },
    });
  }
  return cluster;
};

describe('a settled cluster', () => {
  for (const size of [1, 2, 3, 5]) {
    test(`of ${size} is Healthy and nothing is done`, () => {
      const { state, actions, transitional } = decided(settled(size));
      assert.equal(state, 'Healthy');
      assert.deepEqual(actions, []);
      assert.equal(transitional, false);
    });
  }
});

describe('Paused', () => {
  test('does nothing at all, not even labels and missing objects', () => {
    const verdict = decided(aCluster({ paused: true }).online().child('secret', undefined));
    assert.equal(verdict.state, 'Paused');
    assert.deepEqual(verdict.actions, []);
  });
});

describe('Invalid', () => {
  for (const [what, spec, word] of [
    ['a size that is no whole number', { size: 2.5 }, 'spec.size'],
    ['a size of ten', { size: 10 }, 'spec.size'],
    ['an empty image', { image: ' ' }, 'spec.image'],
    ['a storage size that is no quantity', { storage: { size: 'much' } }, 'spec.storage.size'],
    ['a primary beyond the members', { primary: 3 }, 'spec.primary'],
    [
      'a reserved variable',
      { config: { 'group-replication-group-name': 'x' } },
      'spec.config.group-replication-group-name',
    ],
    ['a line break in a variable', { config: { sql_mode: 'a\nb' } }, 'spec.config.sql_mode'],
  ] as const) {
    test(`${what} is named and no object is touched`, () => {
      const cluster = aCluster(spec).replicas(3).online().child('configMap', undefined);
      const verdict = decided(cluster);
      assert.equal(verdict.state, 'Invalid');
      assert.ok(verdict.message.includes(word), verdict.message);
      assert.deepEqual(
        only(verdict.actions, 'apply').filter(({ kind }) => kind !== 'Pod'),
        [],
      );
    });
  }

  test('labels follow a failover all the same', () => {
    const verdict = decided(aCluster({ config: { port: '1' } }).online(1));
    assert.equal(only(verdict.actions, 'apply').filter(({ kind }) => kind === 'Pod').length, 3);
  });
});

describe('NameConflict', () => {
  const foreign = {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: {
      name: 'db',
      namespace: 'shop',
      uid: 'theirs',
      resourceVersion: '1',
      labels: { app: 'other' },
    },
  };
  test('names the foreign object and never touches it', () => {
    const verdict = decided(settled().child('primaryService', foreign));
    assert.equal(verdict.state, 'NameConflict');
    assert.match(verdict.message, /Service db/);
    assert.deepEqual(verdict.actions, []);
  });
  test('an object that a deleted Mysql of this name still owns is waited for', () => {
    const old = {
      ...foreign,
      metadata: {
        ...foreign.metadata,
        ownerReferences: [
          { apiVersion: 'example.com/v1alpha1', kind: 'Mysql', name: 'db', uid: 'old', controller: true },
        ],
      },
    };
    const verdict = decided(settled().child('primaryService', old));
    assert.equal(verdict.state, 'NameConflict');
    assert.equal(verdict.transitional, true);
    assert.match(verdict.message, /garbage collection/);
  });
});

describe('a new Mysql', () => {
  test('gets all its objects in one pass, the StatefulSet last', () => {
    const cluster = aCluster().replicas(undefined);
    for (const child of [
      'secret',
      'configMap',
      'primaryService',
      'readService',
      'nodesService',
      'disruptionBudget',
    ] as const) {
      cluster.child(child, undefined);
    }
    const { state, actions } = decided(cluster);
    assert.equal(state, 'WaitingForPods');
    assert.deepEqual(dones(actions), ['create', 'apply', 'apply', 'apply', 'apply', 'apply', 'apply']);
    assert.deepEqual(replicasIn(actions), [3]);
    assert.equal(only(actions, 'apply').at(-1)?.kind, 'StatefulSet');
  });
  test('over kept volumes of a larger cluster begins with all that have one', () => {
    const { actions } = decided(aCluster({ size: 3 }).replicas(undefined).claims(5, '2025-01-01T00:00:00Z'));
    assert.deepEqual(replicasIn(actions), [5]);
  });
});

describe('WaitingForPods', () => {
  test('names each pod with its cause', () => {
    const verdict = decided(
      aCluster().pod(1, { waiting: 'ImagePullBackOff' }).pod(2, { unscheduled: '0/3 nodes are available' }),
    );
    assert.equal(verdict.state, 'WaitingForPods');
    assert.match(verdict.message, /db-1 ImagePullBackOff: as it says/);
    assert.match(verdict.message, /db-2 cannot be scheduled: 0\/3 nodes/);
    assert.equal(verdict.transitional, false);
  });
  test('a pod that cannot be created is told by the StatefulSet', () => {
    const verdict = decided(
      aCluster().withoutPod(2).creationTrouble('pods "db-2" is forbidden: exceeded quota'),
    );
    assert.match(verdict.message, /exceeded quota/);
    assert.equal(verdict.transitional, false);
  });
  test('a member down in a group that goes on is waited for while the others stay labelled', () => {
    const verdict = decided(aCluster().inView('v2', [0, 1], 0).withoutPod(2));
    assert.equal(verdict.state, 'WaitingForPods');
    assert.deepEqual(disruptive(verdict.actions), []);
    assert.equal(only(verdict.actions, 'apply').filter(({ kind }) => kind === 'Pod').length, 2);
  });
});

describe('the start of a group', () => {
  test('a new cluster waits for every member before one is chosen', () => {
    const verdict = decided(aCluster().silent(2));
    assert.equal(verdict.state, 'NotBootstrapped');
    assert.equal(verdict.bootstrap, undefined);
    assert.deepEqual(disruptive(verdict.actions), []);
  });
  test('the choice is recorded before anything acts on it', () => {
    const verdict = decided(aCluster());
    assert.deepEqual(verdict.bootstrap, { member: 'db-0', executed: '', at: '2026-01-02T03:04:05Z' });
    assert.deepEqual(disruptive(verdict.actions), []);
  });
  test('a recorded choice that still holds is carried out', () => {
    const verdict = decided(aCluster().bootstrapped('db-0', ''));
    const [bootstrap] = only(verdict.actions, 'bootstrap');
    assert.equal(bootstrap?.member.name, 'db-0');
    assert.equal(bootstrap?.expected, '');
  });
  test('a record whose member has changed since is made anew', () => {
    const verdict = decided(
      aCluster()
        .bootstrapped('db-0', '')
        .member(0, { executed: `${GROUP_UUID}:1-3` }),
    );
    assert.deepEqual(disruptive(verdict.actions), []);
    assert.equal(verdict.bootstrap?.executed, `${GROUP_UUID}:1-3`);
  });
});

describe('FullOutage', () => {
  test('the member that has every transaction is chosen, counting what it received', () => {
    const cluster = aCluster()
      .member(0, { executed: `${GROUP_UUID}:1-10` })
      .member(1, { executed: `${GROUP_UUID}:1-8`, received: `${GROUP_UUID}:1-11` })
      .member(2, { executed: `${GROUP_UUID}:1-9` })
      .bootstrapped('db-0', '');
    const verdict = decided(cluster);
    assert.equal(verdict.state, 'FullOutage');
    assert.equal(verdict.bootstrap?.member, 'db-1');
    assert.deepEqual(disruptive(verdict.actions), []);
  });
  test('one member that does not answer holds everything up and is named', () => {
    const verdict = decided(
      aCluster()
        .bootstrapped()
        .member(0, { executed: `${GROUP_UUID}:1-10` })
        .silent(2),
    );
    assert.equal(verdict.state, 'FullOutage');
    assert.match(verdict.message, /db-2 does not answer/);
    assert.match(verdict.message, /accept-data-loss: db-2/);
    assert.equal(verdict.bootstrap, undefined);
  });
  test('members are counted by the live replicas and not by spec.size', () => {
    const verdict = decided(
      aCluster({ size: 1 })
        .replicas(3)
        .bootstrapped()
        .member(0, { executed: `${GROUP_UUID}:1-10` })
        .silent(2),
    );
    assert.equal(verdict.state, 'FullOutage');
    assert.equal(verdict.bootstrap, undefined);
    assert.deepEqual(replicasIn(verdict.actions), []);
  });
  test('a loss that the user accepts by name is no longer waited for', () => {
    const verdict = decided(
      aCluster()
        .bootstrapped()
        .member(0, { executed: `${GROUP_UUID}:1-10` })
        .member(1, { executed: `${GROUP_UUID}:1-10` })
        .silent(2)
        .annotated({ [ANNOTATION.acceptDataLoss]: 'db-2' }),
    );
    assert.equal(verdict.bootstrap?.member, 'db-0');
  });
  test('when nobody has everything, it says who lacks what and chooses nobody', () => {
    const cluster = aCluster({ size: 2 })
      .bootstrapped()
      .member(0, { executed: `${GROUP_UUID}:1-10,${uuidOf(0)}:1` })
      .member(1, { executed: `${GROUP_UUID}:1-11` });
    const verdict = decided(cluster);
    assert.equal(verdict.bootstrap, undefined);
    assert.match(verdict.message, /db-0 lacks .*:11; db-1 lacks/);
    assert.equal(verdict.transitional, false);
    const accepted = decided(cluster.annotated({ [ANNOTATION.acceptDataLoss]: 'db-0' }));
    assert.equal(accepted.bootstrap?.member, 'db-1');
  });
});

describe('QuorumLost', () => {
  const survivor = () =>
    aCluster().inView('v1', [0, 1, 2], 0, `${GROUP_UUID}:1-10`, { 1: 'UNREACHABLE', 2: 'UNREACHABLE' });
  test('a survivor that says ONLINE and PRIMARY is not believed, and the missing are named', () => {
    const verdict = decided(survivor().silent(1).silent(2));
    assert.equal(verdict.state, 'QuorumLost');
    assert.match(verdict.message, /db-1 does not answer; db-2 does not answer/);
    assert.deepEqual(disruptive(verdict.actions), []);
  });
  test('when all answer, the rest of the group is stopped', () => {
    const back = { state: 'OFFLINE', viewId: undefined, peers: [], role: undefined } as const;
    const verdict = decided(survivor().member(1, back).member(2, back));
    assert.equal(verdict.state, 'QuorumLost');
    assert.deepEqual(
      only(verdict.actions, 'leave').map(({ member }) => member.name),
      ['db-0'],
    );
  });
  test('it never stops a group while a member is silent, unless its loss is accepted', () => {
    const cluster = survivor().silent(1).silent(2);
    assert.deepEqual(
      disruptive(decided(cluster.annotated({ [ANNOTATION.acceptDataLoss]: 'db-1' })).actions),
      [],
    );
    assert.deepEqual(
      dones(disruptive(decided(cluster.annotated({ [ANNOTATION.acceptDataLoss]: 'db-1, db-2' })).actions)),
      ['leave'],
    );
  });
  test('labels of members that nobody can ask stay as they are', () => {
    const cluster = aCluster().bootstrapped();
    for (const ordinal of [0, 1, 2]) {
      cluster
        .silent(ordinal)
        .pod(ordinal, { labels: { [LABEL.role]: ordinal === 0 ? 'primary' : 'secondary' } });
    }
    assert.deepEqual(decided(cluster).actions, []);
  });
});

describe('the majority', () => {
  test('outvotes a woken member that still believes it is the primary', () => {
    const cluster = aCluster().inView('v1', [0, 1, 2], 0).inView('v2', [1, 2], 1);
    const { facts, verdict } = cluster.decide();
    assert.equal(facts.primary?.name, 'db-1');
    assert.equal(verdict.state, 'Joining');
    const labels = only(verdict.actions, 'apply').flatMap(({ object }) => {
      const { name, labels: all } = (object as Pod).metadata ?? {};
      return all?.[LABEL.role] === 'primary' ? [name] : [];
    });
    assert.deepEqual(labels, ['db-1']);
    assert.deepEqual(
      only(verdict.actions, 'leave').map(({ member }) => member.name),
      ['db-0'],
    );
  });
  test('two of three with one unreachable are a group', () => {
    const { facts } = aCluster()
      .inView('v1', [0, 1, 2], 1, undefined, { 2: 'UNREACHABLE' })
      .silent(2)
      .decide();
    assert.equal(facts.primary?.name, 'db-1');
  });
  test('half of four is none', () => {
    const { facts } = aCluster({ size: 4 })
      .inView('v1', [0, 1, 2, 3], 0, undefined, { 2: 'UNREACHABLE', 3: 'UNREACHABLE' })
      .silent(2)
      .silent(3)
      .decide();
    assert.equal(facts.group, undefined);
  });
});

describe('Joining', () => {
  test('a member outside joins through those that are ONLINE', () => {
    const verdict = decided(
      aCluster()
        .inView('v2', [0, 1], 0)
        .member(2, { executed: `${GROUP_UUID}:1-4` }),
    );
    assert.equal(verdict.state, 'Joining');
    const [join] = only(verdict.actions, 'join');
    assert.equal(join?.member.name, 'db-2');
    assert.deepEqual(
      join?.seeds.map((seed) => seed.name),
      ['db-0', 'db-1'],
    );
  });
  test('a member that clones is left alone', () => {
    const verdict = decided(aCluster().inView('v2', [0, 1], 0).member(2, { cloning: true }));
    assert.deepEqual(only(verdict.actions, 'join'), []);
  });
});

describe('Errant', () => {
  const cluster = () =>
    aCluster()
      .inView('v2', [0, 1], 0)
      .member(2, { executed: `${GROUP_UUID}:1-9,${uuidOf(2)}:1` });
  test('is named with its transactions and kept out', () => {
    const verdict = decided(cluster());
    assert.equal(verdict.state, 'Errant');
    assert.match(verdict.message, new RegExp(`db-2 holds ${uuidOf(2)}:1`));
    assert.deepEqual(only(verdict.actions, 'join'), []);
    assert.deepEqual(disruptive(verdict.actions), []);
  });
  test('is re-cloned from a secondary only when the annotation names it', () => {
    assert.deepEqual(disruptive(decided(cluster().annotated({ [ANNOTATION.rebuild]: 'db-1' })).actions), []);
    const [rebuild] = only(decided(cluster().annotated({ [ANNOTATION.rebuild]: 'db-2' })).actions, 'rebuild');
    assert.equal(rebuild?.member.name, 'db-2');
    assert.equal(rebuild?.donor.name, 'db-1');
  });
  test('annotations are taken away once they did their work', () => {
    const verdict = decided(
      settled().annotated({ [ANNOTATION.rebuild]: 'db-2', [ANNOTATION.acceptDataLoss]: 'db-1' }),
    );
    assert.deepEqual(
      only(verdict.actions, 'removeAnnotations').map(({ keys }) => keys),
      [[ANNOTATION.acceptDataLoss, ANNOTATION.rebuild]],
    );
  });
});

describe('scaling', () => {
  test('up: the replicas follow once everybody is ONLINE', () => {
    const verdict = decided(aCluster({ size: 5 }).replicas(3).online());
    assert.equal(verdict.state, 'ScalingUp');
    assert.deepEqual(replicasIn(verdict.actions), [5]);
  });
  test('down: the primary is handed over first', () => {
    const verdict = decided(aCluster({ size: 1 }).replicas(3).online(2));
    assert.equal(verdict.state, 'ScalingDown');
    assert.deepEqual(
      only(verdict.actions, 'setPrimary').map(({ target }) => target.name),
      ['db-0'],
    );
    assert.deepEqual(replicasIn(verdict.actions), []);
  });
  test('down: members leave the group one at a time, then the replicas go down', () => {
    const first = decided(aCluster({ size: 1 }).replicas(3).online());
    assert.deepEqual(
      only(first.actions, 'leave').map(({ member }) => member.name),
      ['db-2'],
    );
    const last = decided(aCluster({ size: 1 }).replicas(3).inView('v3', [0], 0));
    assert.deepEqual(replicasIn(last.actions), [1]);
    assert.deepEqual(only(last.actions, 'join'), []);
  });
  test('down: waits while a member that stays is not ONLINE', () => {
    const verdict = decided(aCluster({ size: 2 }).replicas(3).inView('v2', [0, 2], 0).member(1, {}));
    assert.equal(verdict.state, 'Joining');
    assert.deepEqual(disruptive(verdict.actions), []);
  });
  test('down before any group: only members without a history go', () => {
    const young = aCluster({ size: 1 })
      .replicas(3)
      .pod(1, { unscheduled: 'full' })
      .pod(2, { unscheduled: 'full' });
    assert.deepEqual(replicasIn(decided(young).actions), [1]);
    assert.deepEqual(replicasIn(decided(young.claims(3, '2025-01-01T00:00:00Z')).actions), []);
  });
});

describe('hibernation', () => {
  test('notes the members in the same apply that stops them', () => {
    const verdict = decided(aCluster({ size: 0 }).replicas(3).online());
    assert.equal(verdict.state, 'Hibernating');
    const [set] = only(verdict.actions, 'apply').filter(({ kind }) => kind === 'StatefulSet');
    assert.equal(set?.object.metadata?.annotations?.[ANNOTATION.members], '3');
    assert.deepEqual(replicasIn(verdict.actions), [0]);
  });
  test('wakes with as many members as it had, whatever size is asked for', () => {
    const verdict = decided(
      aCluster({ size: 1 })
        .replicas(0)
        .bootstrapped()
        .setAnnotated({ [ANNOTATION.members]: '3' }),
    );
    assert.deepEqual(replicasIn(verdict.actions), [3]);
  });
});

describe('RollingOut', () => {
  const outdated = (...ordinals: number[]) => {
    const cluster = settled();
    for (const ordinal of ordinals) cluster.pod(ordinal, { revision: 'old' });
    return cluster;
  };
  const deleted = (cluster: ClusterBuilder) =>
    only(decided(cluster).actions, 'delete').map(({ target }) => target.name);

  test('takes the secondaries first, one at a time', () => {
    assert.deepEqual(deleted(outdated(0, 1, 2)), ['db-2']);
    assert.deepEqual(deleted(outdated(0, 1)), ['db-1']);
  });
  test('switches over before the primary goes', () => {
    const verdict = decided(outdated(0));
    assert.deepEqual(
      only(verdict.actions, 'setPrimary').map(({ target }) => target.name),
      ['db-1'],
    );
    assert.deepEqual(only(verdict.actions, 'delete'), []);
  });
  test('waits while somebody is not ONLINE', () => {
    assert.deepEqual(
      deleted(
        outdated(0, 1).inView('v2', [0, 1], 0).member(2, { state: 'OFFLINE', viewId: undefined, peers: [] }),
      ),
      [],
    );
  });
  test('replaces a broken outdated pod at once, so that a corrected image heals', () => {
    assert.deepEqual(
      deleted(
        outdated(0, 1).pod(2, { revision: 'bad', waiting: 'ImagePullBackOff' }).inView('v2', [0, 1], 0),
      ),
      ['db-2'],
    );
  });
  test('touches nobody else while the new image is bad', () => {
    const cluster = outdated(0, 1).inView('v2', [0, 1], 0).pod(2, { waiting: 'ImagePullBackOff' });
    assert.deepEqual(deleted(cluster), []);
    assert.equal(decided(cluster).state, 'WaitingForPods');
  });
  test('does not delete a running pod while there is no group', () => {
    assert.deepEqual(deleted(aCluster().bootstrapped().pod(0, { revision: 'old' }).silent(1)), []);
  });
  test('carries the identity of the very pod that was seen', () => {
    const [action] = only(decided(outdated(2)).actions, 'delete');
    assert.deepEqual(action?.target, {
      kind: 'Pod',
      namespace: 'shop',
      name: 'db-2',
      uid: 'pod-2-uid',
      resourceVersion: '5',
    });
  });
});

describe('SwitchingOver', () => {
  test('goes to the ordinal that spec.primary names', () => {
    const verdict = decided(aCluster({ primary: 2 }).online());
    assert.equal(verdict.state, 'SwitchingOver');
    assert.deepEqual(
      only(verdict.actions, 'setPrimary').map(({ target, uuid }) => [target.name, uuid]),
      [['db-2', uuidOf(2)]],
    );
  });
});

describe('whatever is observed', () => {
  const state = fc.constantFrom<MemberState>('ONLINE', 'RECOVERING', 'OFFLINE', 'ERROR', 'UNREACHABLE');
  const member = fc.record({
    silent: fc.boolean(),
    view: fc.constantFrom('v1', 'v2', undefined),
    states: fc.array(state, { minLength: 5, maxLength: 5 }),
    primary: fc.nat(4),
    executed: fc.constantFrom(
      '',
      `${GROUP_UUID}:1-5`,
      `${GROUP_UUID}:1-9`,
      `${GROUP_UUID}:1-9,${uuidOf(1)}:1`,
    ),
    pod: fc.constantFrom('running', 'missing', 'pending', 'outdated', 'deleting'),
  });
  const clusters = fc
    .record({
      size: fc.nat(5),
      replicas: fc.nat(5),
      members: fc.array(member, { minLength: 5, maxLength: 5 }),
      accepted: fc.constantFrom('', 'db-0', 'db-1,db-2'),
      recorded: fc.constantFrom(undefined, 'db-0', 'db-1'),
      primary: fc.constantFrom(undefined, 0),
    })
    .map(({ size, replicas, members, accepted, recorded, primary }) => {
      const cluster = aCluster({ size, ...(primary === undefined ? {} : { primary }) }).replicas(replicas);
      const ordinals = Array.from({ length: replicas }, (_, ordinal) => ordinal);
      for (const ordinal of ordinals) {
        const draft = members[ordinal];
        if (!draft) continue;
        cluster.member(ordinal, { executed: draft.executed });
        const own = draft.states[ordinal] ?? 'ONLINE';
        if (draft.view && own !== 'OFFLINE' && own !== 'ERROR') {
          cluster.member(ordinal, {
            viewId: draft.view,
            state: own,
            role: draft.primary === ordinal ? 'PRIMARY' : 'SECONDARY',
            peers: ordinals.map((peer) => ({
              uuid: uuidOf(peer),
              host: `db-${peer}.db-nodes.shop.svc`,
              state: draft.states[peer] ?? 'ONLINE',
              role: draft.primary === peer ? 'PRIMARY' : 'SECONDARY',
            })),
          });
        }
        if (draft.silent) cluster.silent(ordinal);
        if (draft.pod === 'missing') cluster.withoutPod(ordinal);
        if (draft.pod === 'pending') cluster.pod(ordinal, { unscheduled: 'full' });
        if (draft.pod === 'outdated') cluster.pod(ordinal, { revision: 'old' });
        if (draft.pod === 'deleting') cluster.pod(ordinal, { deleting: true });
      }
      if (accepted) cluster.annotated({ [ANNOTATION.acceptDataLoss]: accepted });
      if (recorded) cluster.bootstrapped(recorded, `${GROUP_UUID}:1-9`);
      return cluster;
    });
  const always = (property: (cluster: ClusterBuilder) => void) =>
    fc.assert(fc.property(clusters, property), { numRuns: 2_000 });

  test('at most one kind of disruption at a time, and one member disturbed unless a dead group is stopped', () => {
    always((cluster) => {
      const { verdict } = cluster.decide();
      const found = disruptive(verdict.actions);
      assert.ok(new Set(dones(found)).size <= 1);
      if (verdict.state !== 'QuorumLost') assert.ok(found.length <= 1);
    });
  });
  test('no group is started while a member is silent or another group claims to live, nor without a record', () => {
    always((cluster) => {
      const { facts, verdict } = cluster.decide();
      const [bootstrap] = only(verdict.actions, 'bootstrap');
      if (!bootstrap) return;
      assert.equal(facts.group, undefined);
      for (const standing of facts.standings.filter((one) => one.ordinal < facts.replicas)) {
        assert.ok(standing.answer || facts.acceptedLosses.has(standing.name));
        assert.ok(!standing.answer?.viewId);
      }
      assert.equal(facts.observed.mysql.status?.bootstrap?.member, bootstrap.member.name);
      assert.equal(facts.observed.mysql.status?.bootstrap?.executed, bootstrap.expected);
    });
  });
  test('a serving member is deleted only while all others are ONLINE', () => {
    always((cluster) => {
      const { facts, verdict } = cluster.decide();
      for (const { target } of only(verdict.actions, 'delete')) {
        const doomed = facts.standings.find((one) => one.name === target.name);
        const serves = doomed?.inGroup && (doomed.state === 'ONLINE' || doomed.state === 'RECOVERING');
        if (serves) assert.ok(facts.wanted.every((one) => one.inGroup && one.state === 'ONLINE'));
      }
    });
  });
  test('replicas never go down without a group, hibernation and members without history apart', () => {
    always((cluster) => {
      const { facts, verdict } = cluster.decide();
      for (const replicas of replicasIn(verdict.actions)) {
        if ((replicas ?? 0) < facts.replicas && facts.size > 0 && !facts.group) {
          assert.equal(facts.observed.mysql.status?.bootstrap, undefined);
        }
      }
    });
  });
  test('at most one pod is labelled primary, and applying the labels leaves none to apply', () => {
    always((cluster) => {
      const labels = (actions: readonly Action[]) =>
        only(actions, 'apply').filter(({ kind }) => kind === 'Pod');
      const first = labels(cluster.decide().verdict.actions);
      assert.ok(
        first.filter(({ object }) => object.metadata?.labels?.[LABEL.role] === 'primary').length <= 1,
      );
      for (const { object } of first) {
        const ordinal = Number(object.metadata?.name?.slice('db-'.length));
        cluster.pod(ordinal, { labels: object.metadata?.labels ?? {} });
      }
      assert.deepEqual(labels(cluster.decide().verdict.actions), []);
    });
  });
  test('the same gives the same, and nothing observed is changed', () => {
    always((cluster) => {
      const before = structuredClone(cluster.observed());
      const first = cluster.decide().verdict;
      assert.deepEqual(cluster.decide().verdict, first);
      assert.deepEqual(structuredClone(cluster.observed()), before);
    });
  });
});

test('a started group is remembered by its record', () => {
  assert.equal(decided(aCluster().status({ bootstrap: GROUP_STARTED }).silent(0)).state, 'FullOutage');
});
