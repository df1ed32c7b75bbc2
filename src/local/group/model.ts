/**
 * A model of MySQL servers in Group Replication, pod by pod, in memory: good enough to meet every state that the operator decides
 * about, and held to real servers by a contract test. Time comes from outside (`advance`), so thousands of plans run in a moment.
 */
import { contains, type GtidSet, isEmpty, parseGtidSet, subtract, union } from '../../mysql/gtid.ts';
import { newVolume, Server, type View, type Volume } from './server.ts';
import { type Times, timesAt } from './times.ts';

export interface ModelOptions {
  /** Milliseconds since the epoch at which the model begins. */
  readonly now?: number;
  /** 1 is real time; 10 makes everything ten times as quick. */
  readonly speed?: number;
  /** Transactions that a joiner may lack before it clones. */
  readonly cloneThreshold?: number;
  readonly uuid?: () => string;
}

export interface PodOfServer {
  readonly namespace: string;
  readonly cluster: string;
  readonly pod: string;
  readonly host: string;
  readonly address: string;
  readonly image: string;
  /** Uid of its volume claim. */
  readonly volume: string;
}

interface Due {
  readonly at: number;
  readonly server: Server;
  readonly run: () => void;
}

export class GroupModel {
  readonly times: Times;
  readonly #servers = new Map<string, Server>();
  readonly #volumes = new Map<string, Volume>();
  readonly #listeners = new Set<(server: Server) => void>();
  readonly #cloneThreshold: number;
  readonly #uuid: () => string;
  #due: Due[] = [];
  #views = 0;
  #writes = 0;
  now: number;
  /** What must never be: moments at which two groups of one cluster could both acknowledge writes. */
  readonly violations: string[] = [];

  constructor({ now = 0, speed = 1, cloneThreshold = 100_000, uuid }: ModelOptions = {}) {
    this.now = now;
    this.times = timesAt(speed);
    this.#cloneThreshold = cloneThreshold;
    let count = 0;
    this.#uuid = uuid ?? (() => `00000000-0000-4000-8000-${`${++count}`.padStart(12, '0')}`);
  }

  // --- pods ------------------------------------------------------------------------------------------------------------------------

  /** A container starts: the same volume gives the same data and the same server_uuid. */
  start(pod: PodOfServer): Server {
    const volume = this.#volumes.get(pod.volume) ?? newVolume(this.#uuid());
    this.#volumes.set(pod.volume, volume);
    const server = new Server({ ...pod, version: versionOf(pod.image), volume });
    this.#servers.set(key(pod.namespace, pod.pod), server);
    this.#boot(server);
    return server;
  }

  /** SIGTERM: hands over, leaves the group, ends. */
  stop(server: Server): void {
    this.#leaveGroup(server);
    server.process = 'stopped';
    server.forget();
    this.#servers.delete(key(server.namespace, server.pod));
    this.#changed(server);
  }

  removeVolume(uid: string): void {
    this.#volumes.delete(uid);
  }

  server(namespace: string, pod: string): Server | undefined {
    return this.#servers.get(key(namespace, pod));
  }

  serverAt(address: string): Server | undefined {
    return [...this.#servers.values()].find((server) => server.address === address);
  }

  clusterOf(namespace: string, cluster: string): Server[] {
    return [...this.#servers.values()].filter(
      (server) => server.namespace === namespace && server.cluster === cluster,
    );
  }

  /** Told after every change of a server, so that readiness and nudges can follow. */
  onChange(listener: (server: Server) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  // --- faults ------------------------------------------------------------------------------------------------------------------------

  /** SIGKILL; whoever runs in the pod starts mysqld again in place. */
  kill(server: Server): void {
    server.silentSince ??= this.now;
    const view = server.view;
    server.process = 'killed';
    server.cloning = false;
    // the others keep it in their view until they expel it
    server.forget();
    server.view = undefined;
    this.#changed(server);
    if (view) this.#expelLater(server, view);
    this.#boot(server);
  }

  /** SIGSTOP: silent, but it remembers. */
  pause(server: Server): void {
    server.process = 'paused';
    this.#fallSilent(server);
  }

  /** SIGCONT: for a while it believes what it last knew. */
  resume(server: Server): void {
    server.process = 'running';
    this.#speakAgain(server, this.times.delusion);
  }

  cut(server: Server): void {
    server.cut = true;
    this.#fallSilent(server);
    const { view } = server;
    this.#after(this.times.unreachableMajority, server, () => {
      if (server.cut && server.view === view && view && view.members.length > 1)
        this.#fail(server, 'cut off from the majority');
    });
  }

  heal(server: Server): void {
    server.cut = false;
    this.#speakAgain(server, 0);
  }

  // --- orders, as a client of the server gives them ----------------------------------------------------------------------------------

  /** START GROUP_REPLICATION with bootstrap_group = ON. */
  bootstrap(server: Server): void {
    if (server.view && server.state !== 'ERROR') return;
    this.#applyReceived(server);
    server.trouble = '';
    server.state = 'ONLINE';
    server.silentSince = undefined;
    server.view = { id: this.#nextViewId(), members: [server], primary: server };
    this.#changed(server);
  }

  /** START GROUP_REPLICATION with seeds (host names). */
  join(server: Server, seeds: readonly string[]): void {
    if ((server.view && server.state !== 'ERROR') || server.cloning) return;
    const seed = this.clusterOf(server.namespace, server.cluster).find(
      (one) =>
        seeds.includes(one.host) &&
        one !== server &&
        one.talks &&
        one.state === 'ONLINE' &&
        this.hasMajority(one),
    );
    if (!seed?.view || server.cut) return this.#refuse(server, 'cannot reach a member of the group (3092)');
    if (seed.view.members.some((member) => member.volume === server.volume)) {
      return this.#refuse(server, 'an earlier incarnation is still in the group (3092)');
    }
    const group = this.#all(seed);
    if (!contains(group, this.#all(server))) {
      return this.#refuse(server, 'holds transactions that the group does not have (3092)');
    }
    const missing = count(subtract(group, this.#all(server)));
    if (missing > this.#cloneThreshold) return this.clone(server, seed);
    server.trouble = '';
    server.state = 'RECOVERING';
    server.silentSince = undefined;
    this.#newView(seed.view, [...seed.view.members, server]);
    const { view } = server;
    this.#after(this.times.recover, server, () => {
      if (server.state !== 'RECOVERING' || !server.view || !server.talks) return;
      const donor = server.view.members.find(
        (member) => member !== server && member.talks && member.state === 'ONLINE',
      );
      if (!donor) return this.#fail(server, `no donor left in view ${view?.id ?? ''}`);
      this.#copyData(donor, server);
      server.state = 'ONLINE';
      this.#changed(server);
    });
  }

  /** CLONE INSTANCE: all data is replaced, then the server restarts in place and is OFFLINE. */
  clone(server: Server, donor: Server): void {
    if (server.view || server.cloning) return;
    server.cloning = true;
    this.#changed(server);
    this.#after(this.times.clone, server, () => {
      if (!server.cloning || !donor.answers) {
        server.cloning = false;
        return this.#refuse(server, 'the donor went away during the clone');
      }
      server.volume.executed = this.#all(donor);
      server.volume.received = server.volume.executed;
      server.cloning = false;
      server.forget();
      this.#boot(server);
    });
  }

  /** STOP GROUP_REPLICATION. */
  leave(server: Server): void {
    this.#leaveGroup(server);
    server.forget();
    this.#changed(server);
  }

  /** group_replication_set_as_primary(uuid). False when it is no ONLINE member of that group. */
  setPrimary(via: Server, uuid: string): boolean {
    const target = via.view?.members.find((member) => member.volume.uuid === uuid);
    if (!via.view || !target || target.state !== 'ONLINE' || !target.talks || !this.hasMajority(via))
      return false;
    via.view.primary = target;
    for (const member of via.view.members) this.#changed(member);
    return true;
  }

  /** A transaction by a client of the primary; true when it was acknowledged, that is when a majority has it. */
  write(server: Server, groupName: string): boolean {
    if (!server.believesWritable || !server.view || !this.hasMajority(server)) return false;
    this.#writes += 1;
    const transaction = parseGtidSet(`${groupName}:${this.#writes}`);
    for (const member of server.view.members.filter((one) => one.talks)) {
      member.volume.received = union(member.volume.received, transaction);
      if (member.state === 'ONLINE') member.volume.executed = union(member.volume.executed, transaction);
    }
    return true;
  }

  /** A transaction outside the group, as a user with too many rights makes it. */
  writeErrant(server: Server): void {
    const next = count(server.volume.executed) + 1;
    server.volume.executed = union(server.volume.executed, parseGtidSet(`${server.volume.uuid}:${next}`));
  }

  /** Whether a write on this member could be acknowledged: more than half of its view hears it and holds the same view. */
  hasMajority(server: Server): boolean {
    const { view } = server;
    if (!view || !server.talks) return false;
    const hearing = view.members.filter((member) => member.talks && member.view?.id === view.id);
    return hearing.length * 2 > view.members.length;
  }

  // --- time ------------------------------------------------------------------------------------------------------------------------

  /** Makes everything happen that is due up to `now`, in order. */
  advance(now: number): void {
    for (;;) {
      this.#due.sort((a, b) => a.at - b.at);
      const next = this.#due[0];
      if (!next || next.at > now) break;
      this.#due.shift();
      this.now = Math.max(this.now, next.at);
      next.run();
    }
    this.now = Math.max(this.now, now);
  }

  /** When something is due next; undefined when nothing is. */
  get nextDue(): number | undefined {
    return this.#due.reduce<number | undefined>((soonest, { at }) => Math.min(soonest ?? at, at), undefined);
  }

  #after(delay: number, server: Server, run: () => void): void {
    this.#due.push({ at: this.now + delay, server, run });
  }

  #boot(server: Server): void {
    server.process = server.process === 'killed' ? 'killed' : 'starting';
    this.#after(this.times.start, server, () => {
      if (server.process !== 'starting' && server.process !== 'killed') return;
      if (this.#servers.get(key(server.namespace, server.pod)) !== server) return;
      server.process = 'running';
      this.#changed(server);
    });
    this.#changed(server);
  }

  // --- the group ---------------------------------------------------------------------------------------------------------------------

  #fallSilent(server: Server): void {
    server.silentSince ??= this.now;
    this.#changed(server);
    if (server.view) this.#expelLater(server, server.view);
  }

  /** The others notice twice: UNREACHABLE, then out; the second only when they are a majority. */
  #expelLater(server: Server, view: View): void {
    const stillSilent = () =>
      server.silentSince !== undefined && (server.view === undefined || !server.talks);
    this.#after(this.times.unreachable, server, () => {
      if (stillSilent()) for (const member of view.members) this.#changed(member);
    });
    this.#after(this.times.expel, server, () => {
      if (stillSilent()) this.#expelSilent(view, server);
    });
  }

  #expelSilent(view: View, server: Server): void {
    const witness = view.members.find((member) => member !== server && member.talks);
    const current = witness?.view;
    if (!witness || !current?.members.includes(server) || !this.hasMajority(witness)) return;
    const silent = current.members.filter((member) => !(member.talks && member.view === current));
    this.#newView(
      current,
      current.members.filter((member) => !silent.includes(member)),
    );
  }

  /** Back from silence: expelled meanwhile means ERROR, after the time it takes to notice. */
  #speakAgain(server: Server, after: number): void {
    const { view } = server;
    const notice = () => {
      server.silentSince = undefined;
      if (!view || server.view !== view) return this.#changed(server);
      const others = view.members.filter((member) => member !== server);
      const expelled = others.some(
        (member) =>
          member.view !== undefined && member.view !== view && !member.view.members.includes(server),
      );
      if (expelled) this.#fail(server, 'was expelled from the group');
      else this.#changed(server);
    };
    if (after === 0) notice();
    else this.#after(after, server, notice);
    this.#changed(server);
  }

  #leaveGroup(server: Server): void {
    const { view } = server;
    if (!view) return;
    const majority = this.hasMajority(server);
    server.view = undefined;
    server.silentSince = undefined;
    const rest = view.members.filter((member) => member !== server);
    if (majority && rest.length > 0)
      this.#newView(
        view,
        rest.filter((member) => member.view === view),
      );
    else server.silentSince = this.now;
  }

  /** A new view for exactly these members; a primary that is not among them is replaced by the first ONLINE one. */
  #newView(before: View, members: readonly Server[]): void {
    const kept = before.primary && members.includes(before.primary) ? before.primary : undefined;
    const online = members.filter((member) => member.state === 'ONLINE');
    const elected = kept ?? [...online].sort((a, b) => (a.volume.uuid < b.volume.uuid ? -1 : 1))[0];
    const view: View = { id: this.#nextViewId(), members, primary: elected };
    for (const member of members) member.view = view;
    if (elected) this.#applyReceived(elected);
    for (const member of members) this.#changed(member);
  }

  #fail(server: Server, why: string): void {
    server.state = 'ERROR';
    server.view = undefined;
    server.trouble = why;
    this.#changed(server);
  }

  #refuse(server: Server, why: string): void {
    server.trouble = why;
    this.#changed(server);
  }

  #copyData(from: Server, to: Server): void {
    to.volume.received = union(to.volume.received, this.#all(from));
    to.volume.executed = union(to.volume.executed, to.volume.received);
  }

  /** A member that becomes the primary has executed what it had received. */
  #applyReceived(server: Server): void {
    server.volume.executed = this.#all(server);
  }

  #all(server: Server): GtidSet {
    return union(server.volume.executed, server.volume.received);
  }

  #nextViewId(): string {
    this.#views += 1;
    return `view:${this.#views}`;
  }

  #changed(server: Server): void {
    this.#audit(server);
    for (const listener of this.#listeners) listener(server);
  }

  #audit(server: Server): void {
    const writable = this.clusterOf(server.namespace, server.cluster).filter(
      (one) => one.believesWritable && this.hasMajority(one),
    );
    if (writable.length > 1) {
      this.violations.push(
        `${server.namespace}/${server.cluster}: ${writable.map((one) => one.pod).join(' and ')} are both writable`,
      );
    }
  }
}

const key = (namespace: string, pod: string): string => `${namespace}/${pod}`;

const count = (set: GtidSet): number =>
  isEmpty(set) ? 0 : [...set.values()].flat().reduce((sum, [first, last]) => sum + last - first + 1, 0);

/** `mysql:8.4` → 8.4.0; a tag without a version is the newest. */
function versionOf(image: string): string {
  const [, major, minor = '0', patch = '0'] = /:(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(image) ?? [];
  return major && Number(major) >= 5 ? `${major}.${minor}.${patch}` : '9.0.0';
}
