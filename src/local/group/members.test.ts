/** The `Members` port on the model: what it tells, and what it refuses as the real adapter does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Permanent, Retryable } from '../../errors.ts';
import type { Access, Member, Members } from '../../mysql/members.ts';
import { ModelMembers } from './members.ts';
import { GroupModel } from './model.ts';

const GROUP = 'aaaaaaaa-0000-4000-8000-000000000000';
const access: Access = {
  operator: { user: 'operator', password: 'x' },
  replication: { user: 'replication', password: 'x' },
  groupName: GROUP,
};
const signal = new AbortController().signal;

function threeMembers(image = 'mysql:8.4') {
  const model = new GroupModel();
  const members: Members = new ModelMembers(model);
  const [a, b, c] = [0, 1, 2].map((ordinal): Member => {
    const member = {
      name: `db-${ordinal}`,
      ordinal,
      address: `10.0.0.${ordinal}`,
      host: `db-${ordinal}.db-nodes`,
    };
    model.start({
      ...member,
      namespace: 'shop',
      cluster: 'db',
      pod: member.name,
      image,
      volume: member.name,
    });
    return member;
  });
  if (!a || !b || !c) throw new Error('three');
  const server = (member: Member) => model.serverAt(member.address) ?? assert.fail();
  return { model, members, a, b, c, server, pass: (ms: number) => model.advance(model.now + ms) };
}

test('reports in the order asked for: what answers tells everything, what does not tells why', async () => {
  const { model, members, a, b, c, server, pass } = threeMembers();
  const nowhere: Member = { name: 'db-9', ordinal: 9, address: '10.0.0.9', host: 'db-9.db-nodes' };
  const starting = await members.report([a], access, signal);
  assert.deepEqual(starting, [{ answered: false, name: 'db-0', why: 'does not listen yet' }]);
  pass(model.times.start);
  await members.bootstrap(a, access, '', signal);
  model.write(server(a), GROUP);
  model.hang(server(c));
  const [second, first, third, fourth] = await members.report([b, a, c, nowhere], access, signal);
  assert.deepEqual(first, {
    answered: true,
    name: 'db-0',
    uuid: server(a).volume.uuid,
    version: '8.4.0',
    state: 'ONLINE',
    role: 'PRIMARY',
    viewId: 'view:1',
    peers: [{ uuid: server(a).volume.uuid, host: a.host, state: 'ONLINE', role: 'PRIMARY' }],
    executed: `${GROUP}:1`,
    received: '',
    superReadOnly: false,
    cloning: false,
    trouble: '',
  });
  assert.deepEqual(second, {
    answered: true,
    name: 'db-1',
    uuid: server(b).volume.uuid,
    version: '8.4.0',
    state: 'OFFLINE',
    role: undefined,
    viewId: undefined,
    peers: [],
    executed: '',
    received: '',
    superReadOnly: true,
    cloning: false,
    trouble: '',
  });
  assert.deepEqual(third, { answered: false, name: 'db-2', why: 'does not answer in time' });
  assert.deepEqual(fourth, { answered: false, name: 'db-9', why: 'is not there' });
});

test('a group does not start on other data than the decision saw', async () => {
  const { model, members, a, server, pass } = threeMembers();
  pass(model.times.start);
  model.writeErrant(server(a));
  await assert.rejects(members.bootstrap(a, access, '', signal), Retryable);
  assert.equal(server(a).state, 'OFFLINE');
  await members.bootstrap(a, access, `${server(a).volume.uuid}:1`, signal);
  assert.equal(server(a).state, 'ONLINE');
});

test('orders given twice are done once', async () => {
  const { model, members, a, b, server, pass } = threeMembers();
  pass(model.times.start);
  for (const _ of [1, 2]) await members.bootstrap(a, access, '', signal);
  for (const _ of [1, 2]) await members.join(b, access, [a], signal);
  assert.equal(server(a).view?.members.length, 2);
  pass(model.times.recover);
  for (const _ of [1, 2]) await members.setPrimary(a, access, server(b).volume.uuid, signal);
  assert.equal(server(b).role, 'PRIMARY');
  for (const _ of [1, 2]) await members.leave(b, access, signal);
  assert.deepEqual([server(a).role, server(b).state], ['PRIMARY', 'OFFLINE']);
});

test('an order to a member that does not answer may be tried again', async () => {
  const { members, a, b } = threeMembers();
  await assert.rejects(members.join(a, access, [b], signal), Retryable);
});

test('a member that is no ONLINE one is not made the primary', async () => {
  const { model, members, a, b, server, pass } = threeMembers();
  pass(model.times.start);
  await members.bootstrap(a, access, '', signal);
  await assert.rejects(members.setPrimary(a, access, server(b).volume.uuid, signal), Retryable);
});

test('a rebuild leaves the group first and takes the data of the donor', async () => {
  const { model, members, a, b, server, pass } = threeMembers();
  pass(model.times.start);
  await members.bootstrap(a, access, '', signal);
  model.write(server(a), GROUP);
  await members.join(b, access, [a], signal);
  pass(model.times.recover);
  await members.rebuild(b, access, a, signal);
  assert.equal(server(a).view?.members.length, 1);
  pass(model.times.clone + model.times.start);
  const [report] = await members.report([b], access, signal);
  assert.ok(report?.answered && report.state === 'OFFLINE' && report.executed === `${GROUP}:1`);
});

test('MySQL 5.7 neither clones nor switches its primary by an order', async () => {
  const { model, members, a, b, server, pass } = threeMembers('mysql:5.7');
  pass(model.times.start);
  await members.bootstrap(a, access, '', signal);
  await assert.rejects(members.rebuild(b, access, a, signal), Permanent);
  await assert.rejects(members.setPrimary(a, access, server(a).volume.uuid, signal), Permanent);
});
