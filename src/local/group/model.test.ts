/** Each fact about Group Replication that the operator rests on, as the model keeps it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseGtidSet } from '../../mysql/gtid.ts';
import { GroupModel, type ModelOptions } from './model.ts';
import type { Server } from './server.ts';

const GROUP = 'aaaaaaaa-0000-4000-8000-000000000000';

/** A model, its pods db-0…, and a clock that only the test moves. */
function aModel({
  size = 3,
  image = 'mysql:8.4',
  ...options
}: ModelOptions & { size?: number; image?: string } = {}) {
  const model = new GroupModel(options);
  const start = (ordinal: number, volume = `volume-${ordinal}`): Server => {
    const pod = `db-${ordinal}`;
    const server = model.start({
      namespace: 'shop',
      cluster: 'db',
      pod,
      host: `${pod}.db-nodes`,
      address: `10.0.0.${ordinal}`,
      image,
      volume,
    });
    return server;
  };
  const servers = Array.from({ length: size }, (_, ordinal) => start(ordinal));
  const pass = (milliseconds: number) => model.advance(model.now + milliseconds);
  const seeds = servers.map((server) => server.host);
  const server = (ordinal: number): Server => servers[ordinal] ?? assert.fail(`no db-${ordinal}`);
  pass(model.times.start);
  return { model, start, server, servers, pass, seeds };
}

/** All of them ONLINE, db-0 the primary. */
function aGroup(options: Parameters<typeof aModel>[0] = {}) {
  const world = aModel(options);
  const [first, ...others] = world.servers;
  world.model.bootstrap(first ?? assert.fail());
  for (const server of others) world.model.join(server, world.seeds);
  world.pass(world.model.times.recover);
  return world;
}

const states = (servers: readonly Server[]) =>
  servers.map(({ state, role }) => (role ? `${state} ${role}` : state));
const seenBy = (model: GroupModel, server: Server) =>
  server.peersAt(model.now, model.times.unreachable).map(({ state }) => state);
const executed = (...transactions: number[]) => parseGtidSet(transactions.map((n) => `${GROUP}:${n}`).join());

describe('start', () => {
  test('a server answers after its start, OFFLINE and read-only', () => {
    const { model, start, pass } = aModel({ size: 0 });
    const server = start(0);
    assert.equal(server.answers, false);
    pass(model.times.start);
    assert.deepEqual([server.answers, server.state, server.believesWritable], [true, 'OFFLINE', false]);
  });

  test('data and server_uuid live in the volume: another pod on it has both, another volume neither', () => {
    const { model, server, start } = aGroup({ size: 1 });
    model.write(server(0), GROUP);
    model.stop(server(0));
    const again = start(0);
    assert.equal(again.volume.uuid, server(0).volume.uuid);
    assert.deepEqual(again.volume.executed, executed(1));
    model.stop(again);
    const replaced = start(0, 'new-volume');
    assert.notEqual(replaced.volume.uuid, server(0).volume.uuid);
    assert.deepEqual(replaced.volume.executed, executed());
  });

  test('the data of one model is the beginning of another', () => {
    const { model, server, start } = aGroup({ size: 1 });
    model.write(server(0), GROUP);
    assert.equal(server(0).volume.uuid, start(0).volume.uuid);
    const later = aModel({ size: 1, volumes: JSON.parse(JSON.stringify(model.volumes)) });
    assert.deepEqual(later.server(0).volume, server(0).volume);
  });

  test('the tag of the image is the version', () => {
    const versions = [
      'mysql:8.4',
      'mysql:5.7.44',
      'registry:5000/mysql:8.0.37-debian',
      'mysql:9.1@sha256:12ab',
      'mysql',
    ].map((image) => aModel({ size: 1, image }).server(0).version);
    assert.deepEqual(versions, ['8.4.0', '5.7.44', '8.0.37', '9.1.0', '9.0.0']);
  });
});

describe('forming a group', () => {
  test('the one that bootstraps is a writable group of one, and joiners recover before they are ONLINE', () => {
    const { model, server, servers, seeds, pass } = aModel();
    model.bootstrap(server(0));
    model.join(server(1), seeds);
    assert.deepEqual(states(servers), ['ONLINE PRIMARY', 'RECOVERING SECONDARY', 'OFFLINE']);
    pass(model.times.recover);
    assert.deepEqual(states(servers), ['ONLINE PRIMARY', 'ONLINE SECONDARY', 'OFFLINE']);
    assert.deepEqual(seenBy(model, server(0)), ['ONLINE', 'ONLINE']);
  });

  test('every change of the membership is a new view, the same for all members', () => {
    const { model, server, servers, pass, seeds } = aModel();
    const seen = new Set<string | undefined>();
    const look = () => {
      const ids = new Set(servers.flatMap(({ view }) => view?.id ?? []));
      assert.equal(ids.size, 1);
      seen.add([...ids][0]);
    };
    model.bootstrap(server(0));
    look();
    model.join(server(1), seeds);
    look();
    model.join(server(2), seeds);
    look();
    pass(model.times.recover);
    model.leave(server(2));
    look();
    assert.equal(seen.size, 4);
  });

  test('an incremental joiner gets what was written before and meanwhile', () => {
    const { model, server, seeds, pass } = aModel();
    model.bootstrap(server(0));
    model.write(server(0), GROUP);
    model.join(server(1), seeds);
    model.write(server(0), GROUP);
    pass(model.times.recover);
    assert.deepEqual(server(1).volume.executed, executed(1, 2));
  });

  test('without a member of a group there is nothing to join', () => {
    const { model, server, seeds } = aModel();
    model.join(server(1), seeds);
    assert.equal(server(1).state, 'OFFLINE');
    assert.match(server(1).trouble, /3092/);
  });

  test('a member that holds what the group does not have cannot join, so a wrong bootstrap shows', () => {
    const { model, server, seeds, servers } = aGroup();
    model.write(server(0), GROUP);
    for (const one of servers) model.leave(one);
    server(2).volume.executed = executed();
    server(2).volume.received = executed();
    model.bootstrap(server(2));
    model.join(server(0), seeds);
    assert.equal(server(0).state, 'OFFLINE');
    assert.match(server(0).trouble, /transactions that the group does not have/);
    assert.equal(model.lostWrites('shop', 'db'), `${GROUP}:1`);
    assert.deepEqual(model.violations, []);
  });

  test('two groups of one cluster are a violation', () => {
    const { model, server } = aModel();
    model.bootstrap(server(0));
    model.bootstrap(server(1));
    assert.deepEqual(model.violations, ['shop/db: db-0 and db-1 are both writable']);
  });

  test('a joiner whose donors go away before it has recovered is in ERROR', () => {
    const { model, server, seeds, pass } = aModel();
    model.bootstrap(server(0));
    model.join(server(1), seeds);
    model.stop(server(0));
    pass(model.times.recover);
    assert.deepEqual([server(1).state, server(1).trouble], ['ERROR', 'found no member to recover from']);
  });
});

describe('clone', () => {
  /** db-1 joins after db-0 has written and purged. */
  function aCloner(options: Parameters<typeof aModel>[0] = {}) {
    const world = aModel(options);
    world.model.bootstrap(world.server(0));
    world.model.write(world.server(0), GROUP);
    world.model.purge(world.server(0));
    world.model.join(world.server(1), world.seeds);
    return world;
  }

  test('what the group has purged can only be cloned; the server then restarts in place and waits for a new START', () => {
    const { model, server, seeds, pass } = aCloner();
    const { uuid } = server(1).volume;
    assert.deepEqual([server(1).state, server(1).cloning], ['RECOVERING', true]);
    pass(model.times.clone);
    assert.deepEqual([server(1).answers, server(0).view?.members.length], [false, 1]);
    pass(model.times.start);
    assert.deepEqual([server(1).answers, server(1).state, server(1).cloning], [true, 'OFFLINE', false]);
    assert.deepEqual(server(1).volume.executed, executed(1));
    assert.equal(server(1).volume.uuid, uuid);
    model.join(server(1), seeds);
    assert.equal(server(1).cloning, false);
    pass(model.times.recover);
    assert.equal(server(1).state, 'ONLINE');
  });

  test('a joiner that lacks more than the threshold clones though nothing is purged', () => {
    const { model, server, seeds } = aModel({ cloneThreshold: 1 });
    model.bootstrap(server(0));
    model.write(server(0), GROUP);
    model.join(server(1), seeds);
    model.write(server(0), GROUP);
    model.join(server(2), seeds);
    assert.deepEqual([server(1).cloning, server(2).cloning], [false, true]);
  });

  test('MySQL 5.7 cannot clone: the joiner is in ERROR', () => {
    const { server } = aCloner({ image: 'mysql:5.7' });
    assert.equal(server(1).state, 'ERROR');
    assert.match(server(1).trouble, /binary log/);
  });

  test('it fails with its donor', () => {
    const { model, server, pass } = aCloner();
    model.stop(server(0));
    pass(model.times.clone);
    assert.equal(server(1).state, 'ERROR');
    assert.match(server(1).trouble, /donor went away/);
  });

  test('a restart during a clone voids it, for the data too', () => {
    const { model, server, pass } = aCloner();
    model.kill(server(1));
    pass(model.times.clone + model.times.start);
    assert.deepEqual([server(1).state, server(1).answers], ['OFFLINE', true]);
    assert.deepEqual(server(1).volume.executed, executed());
  });

  test('a rebuild takes errant transactions away', () => {
    const { model, server, seeds, pass } = aGroup();
    model.leave(server(2));
    model.writeErrant(server(2));
    model.join(server(2), seeds);
    assert.match(server(2).trouble, /transactions that the group does not have/);
    model.clone(server(2), server(1));
    pass(model.times.clone + model.times.start);
    model.join(server(2), seeds);
    pass(model.times.recover);
    assert.deepEqual(states([server(2)]), ['ONLINE SECONDARY']);
  });
});

describe('failover', () => {
  test('a killed primary is UNREACHABLE after 5 s, expelled and replaced after 6.5 s, and no acknowledged write is lost', () => {
    const { model, server, servers, pass } = aGroup();
    assert.equal(model.write(server(0), GROUP), true);
    model.kill(server(0));
    pass(4_999);
    assert.deepEqual(seenBy(model, server(1)), ['ONLINE', 'ONLINE', 'ONLINE']);
    pass(1);
    assert.deepEqual(seenBy(model, server(1)), ['UNREACHABLE', 'ONLINE', 'ONLINE']);
    pass(1_499);
    assert.deepEqual(states(servers), ['OFFLINE', 'ONLINE SECONDARY', 'ONLINE SECONDARY']);
    pass(1);
    assert.deepEqual(states(servers), ['OFFLINE', 'ONLINE PRIMARY', 'ONLINE SECONDARY']);
    assert.equal(model.lostWrites('shop', 'db'), '');
    assert.deepEqual(model.violations, []);
  });

  test('a speed factor makes all of it quicker', () => {
    const { model, server, pass } = aGroup({ speed: 10 });
    model.kill(server(0));
    pass(650);
    assert.deepEqual(states([server(1)]), ['ONLINE PRIMARY']);
  });

  test('a restarted member is no part of a view that forms before it is expelled', () => {
    const { model, server, start, pass, seeds } = aGroup();
    model.kill(server(1));
    pass(model.times.start);
    const fourth = start(3);
    pass(model.times.start);
    model.join(fourth, seeds);
    assert.deepEqual([server(1).state, server(1).view], ['OFFLINE', undefined]);
    pass(model.times.expel);
    assert.equal(server(0).view?.members.includes(server(1)), false);
  });

  test('until it is expelled a restarted member cannot come back, then it can', () => {
    const { model, server, seeds, pass } = aGroup();
    model.kill(server(0));
    pass(model.times.start);
    assert.deepEqual([server(0).answers, server(0).state], [true, 'OFFLINE']);
    model.join(server(0), seeds);
    assert.match(server(0).trouble, /earlier incarnation/);
    pass(model.times.expel);
    model.join(server(0), seeds);
    pass(model.times.recover);
    assert.deepEqual(states([server(0)]), ['ONLINE SECONDARY']);
  });

  test('a pod that vanishes is noticed like a kill; one that is stopped hands over at once', () => {
    const gone = aGroup();
    gone.model.vanish(gone.server(0));
    assert.equal(gone.model.server('shop', 'db-0'), undefined);
    assert.deepEqual(states([gone.server(1)]), ['ONLINE SECONDARY']);
    gone.pass(gone.model.times.expel);
    assert.deepEqual(states([gone.server(1)]), ['ONLINE PRIMARY']);

    const stopped = aGroup();
    stopped.model.stop(stopped.server(0));
    assert.deepEqual(states([stopped.server(1)]), ['ONLINE PRIMARY']);
  });

  test('the new primary has executed what it had only received', () => {
    const { model, server, pass } = aGroup();
    model.lag(server(1));
    model.write(server(0), GROUP);
    assert.deepEqual(server(1).volume.executed, executed());
    model.kill(server(0));
    pass(model.times.expel);
    assert.deepEqual(server(1).volume.executed, executed(1));
  });

  test('set_as_primary moves the primary without a new view, to ONLINE members only', () => {
    const { model, server, servers, pass } = aGroup();
    const before = server(0).view?.id;
    assert.equal(model.setPrimary(server(0), server(2).volume.uuid), true);
    assert.deepEqual(states(servers), ['ONLINE SECONDARY', 'ONLINE SECONDARY', 'ONLINE PRIMARY']);
    assert.equal(server(0).view?.id, before);
    model.kill(server(1));
    pass(model.times.start);
    assert.equal(model.setPrimary(server(0), server(1).volume.uuid), false);
    assert.equal(model.setPrimary(server(0), 'nobody'), false);
  });
});

describe('majority lost', () => {
  /** db-1 and db-2 are killed at once. */
  function aSurvivor() {
    const world = aGroup();
    world.model.kill(world.server(1));
    world.model.kill(world.server(2));
    return world;
  }

  test('the survivor says ONLINE and PRIMARY, sees the others UNREACHABLE, and acknowledges nothing', () => {
    const { model, server, pass } = aSurvivor();
    pass(model.times.expel);
    assert.deepEqual(states([server(0)]), ['ONLINE PRIMARY']);
    assert.deepEqual(seenBy(model, server(0)), ['ONLINE', 'UNREACHABLE', 'UNREACHABLE']);
    assert.equal(server(0).believesWritable, true);
    assert.equal(model.write(server(0), GROUP), false);
  });

  test('restarted members cannot join it', () => {
    const { model, server, pass, seeds } = aSurvivor();
    pass(model.times.expel);
    model.join(server(1), seeds);
    assert.match(server(1).trouble, /cannot reach a member of the group/);
  });

  test('it gives up after the timeout for that, and can then start anew', () => {
    const { model, server, pass, seeds } = aSurvivor();
    pass(model.times.unreachable + model.times.unreachableMajority);
    assert.equal(server(0).state, 'ERROR');
    assert.deepEqual(seenBy(model, server(0)), ['ERROR']);
    model.bootstrap(server(0));
    model.join(server(1), seeds);
    pass(model.times.recover);
    assert.deepEqual(states([server(0), server(1)]), ['ONLINE PRIMARY', 'ONLINE SECONDARY']);
  });

  test('when one of two comes back, the other is expelled at last', () => {
    const { model, server, pass } = aGroup();
    model.kill(server(1));
    model.cut(server(2));
    pass(model.times.expel + 1_000);
    assert.deepEqual(seenBy(model, server(0)), ['ONLINE', 'UNREACHABLE', 'UNREACHABLE']);
    model.heal(server(2));
    pass(model.times.expel - model.times.unreachable);
    assert.deepEqual(seenBy(model, server(0)), ['ONLINE', 'ONLINE']);
  });

  test('it may also be told to leave', () => {
    const { model, server, pass } = aSurvivor();
    pass(model.times.expel);
    model.leave(server(0));
    assert.deepEqual([server(0).state, server(0).view], ['OFFLINE', undefined]);
  });
});

describe('silence that ends', () => {
  test('a paused primary wakes with its old view for about 3 s, then it is in ERROR; its writes are never acknowledged', () => {
    const { model, server, servers, pass } = aGroup();
    model.pause(server(0));
    assert.equal(server(0).answers, false);
    pass(10_000);
    model.resume(server(0));
    assert.deepEqual(states(servers), ['ONLINE PRIMARY', 'ONLINE PRIMARY', 'ONLINE SECONDARY']);
    assert.equal(server(0).believesWritable, true);
    assert.deepEqual(seenBy(model, server(0)), ['ONLINE', 'ONLINE', 'ONLINE']);
    assert.equal(model.write(server(0), GROUP), false);
    assert.equal(model.write(server(1), GROUP), true);
    pass(2_999);
    assert.equal(server(0).state, 'ONLINE');
    pass(1);
    assert.equal(server(0).state, 'ERROR');
    assert.deepEqual(model.violations, []);
  });

  test('one that wakes before it is expelled gets what it missed and goes on', () => {
    const { model, server, servers, pass } = aGroup();
    model.pause(server(2));
    model.write(server(0), GROUP);
    pass(model.times.unreachable);
    assert.deepEqual(seenBy(model, server(0)), ['ONLINE', 'ONLINE', 'UNREACHABLE']);
    model.resume(server(2));
    pass(60_000);
    assert.deepEqual(states(servers), ['ONLINE PRIMARY', 'ONLINE SECONDARY', 'ONLINE SECONDARY']);
    assert.deepEqual(seenBy(model, server(0)), ['ONLINE', 'ONLINE', 'ONLINE']);
    assert.deepEqual(server(2).volume.executed, executed(1));
  });

  test('one that wakes after others have left learns of their new view', () => {
    const { model, server, servers, pass } = aGroup({ size: 4 });
    model.pause(server(3));
    model.leave(server(2));
    model.resume(server(3));
    pass(60_000);
    assert.equal(server(3).view?.id, server(0).view?.id);
    assert.deepEqual(states(servers), ['ONLINE PRIMARY', 'ONLINE SECONDARY', 'OFFLINE', 'ONLINE SECONDARY']);
  });

  test('a whole group that was paused for long just goes on', () => {
    const { model, server, servers, pass } = aGroup();
    for (const one of servers) model.pause(one);
    pass(60_000);
    for (const one of servers) model.resume(one);
    pass(60_000);
    assert.deepEqual(states(servers), ['ONLINE PRIMARY', 'ONLINE SECONDARY', 'ONLINE SECONDARY']);
    assert.equal(model.write(server(0), GROUP), true);
  });

  test('a primary that is cut off is replaced, fences itself after the timeout, and can come back', () => {
    const { model, server, servers, pass, seeds } = aGroup();
    model.cut(server(0));
    pass(model.times.expel);
    assert.deepEqual(states(servers), ['ONLINE PRIMARY', 'ONLINE PRIMARY', 'ONLINE SECONDARY']);
    assert.deepEqual(seenBy(model, server(0)), ['ONLINE', 'UNREACHABLE', 'UNREACHABLE']);
    assert.equal(model.write(server(0), GROUP), false);
    assert.deepEqual(model.violations, []);
    pass(model.times.unreachableMajority);
    assert.equal(server(0).state, 'ERROR');
    model.join(server(0), seeds);
    assert.match(server(0).trouble, /cannot reach/);
    model.heal(server(0));
    model.join(server(0), seeds);
    pass(model.times.recover);
    assert.deepEqual(states([server(0)]), ['ONLINE SECONDARY']);
  });

  test('one whose cut is healed after it was expelled is in ERROR at once', () => {
    const { model, server, pass } = aGroup();
    model.cut(server(2));
    pass(model.times.expel);
    model.heal(server(2));
    assert.equal(server(2).state, 'ERROR');
  });

  test('a server that hangs does not answer, and its group does not notice', () => {
    const { model, server, pass } = aGroup();
    model.hang(server(1));
    pass(60_000);
    assert.equal(server(1).answers, false);
    assert.deepEqual(seenBy(model, server(0)), ['ONLINE', 'ONLINE', 'ONLINE']);
    model.hang(server(1), false);
    assert.equal(server(1).answers, true);
  });
});

describe('full outage', () => {
  test('the member with everything need not be the dead primary: others may have received what it did not live to commit', () => {
    const { model, server, servers, pass } = aGroup();
    model.write(server(0), GROUP);
    model.lag(server(1));
    model.pause(server(2));
    model.write(server(0), GROUP);
    model.writeUnfinished(server(0), GROUP);
    for (const one of servers) model.kill(one);
    pass(model.times.start);
    assert.deepEqual(states(servers), ['OFFLINE', 'OFFLINE', 'OFFLINE']);
    assert.deepEqual(server(0).transactions, executed(1, 2));
    assert.deepEqual(server(1).volume.executed, executed(1));
    assert.deepEqual(server(1).transactions, executed(1, 2, 3));
    assert.deepEqual(server(2).transactions, executed(1));
    model.bootstrap(server(1));
    assert.deepEqual(server(1).volume.executed, executed(1, 2, 3));
    assert.equal(model.lostWrites('shop', 'db'), '');
  });
});
