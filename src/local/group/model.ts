/**
 * A model of MySQL servers in Group Replication, pod by pod, in memory: good enough to meet every state that the operator decides
 * about, with the times that were measured on real servers. Time comes from outside (`advance`), so thousands of plans run in a moment.
 */
import { contains } from '../../mysql/gtid.ts';
import { Joining } from './joining.ts';
import { Registry } from './registry.ts';
import { newVolume, restoredVolume, type SavedVolume, Server, savedVolume, type Volume } from './server.ts';
import { Timeline } from './timeline.ts';
import { type Times, timesAt } from './times.ts';
import { Transactions } from './transactions.ts';
import { isDonor, Views } from './views.ts';

export interface ModelOptions {
  /** Milliseconds since the epoch at which the model begins. */
  readonly now?: number;
  /** 1 is real time; 10 makes everything ten times as quick. */
  readonly speed?: number;
  /** Transactions that a joiner may lack before it clones. */
  readonly cloneThreshold?: number;
  /** Makes the server_uuid of an empty volume. */
  readonly uuid?: () => string;
  /** Data of an earlier model (`volumes`). */
  readonly volumes?: Readonly<Record<string, SavedVolume>>;
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

export class GroupModel {
  readonly times: Times;
  readonly #timeline: Timeline;
  readonly #views: Views;
  readonly #joining: Joining;
  readonly #transactions = new Transactions();
  readonly #servers = new Registry();
  readonly #volumes: Map<string, Volume>;
  readonly #listeners = new Set<(server: Server) => void>();
  readonly #uuid: () => string;
  /** What must never be: moments at which two groups of one cluster could both acknowledge writes. */
  readonly violations: string[] = [];

  constructor({ now = 0, speed = 1, cloneThreshold = 100_000, uuid, volumes = {} }: ModelOptions = {}) {
    this.times = timesAt(speed);
    this.#timeline = new Timeline(now);
    const changed = (server: Server) => this.#changed(server);
    const common = { timeline: this.#timeline, times: this.times, changed };
    this.#views = new Views(common);
    this.#joining = new Joining({
      ...common,
      cloneThreshold,
      views: this.#views,
      restart: (server) => this.#boot(server),
    });
    let made = 0;
    this.#uuid = uuid ?? (() => `00000000-0000-4000-8000-${`${++made}`.padStart(12, '0')}`);
    this.#volumes = new Map(Object.entries(volumes).map(([uid, saved]) => [uid, restoredVolume(saved)]));
  }

  // --- time ------------------------------------------------------------------------------------------------------------------------

  get now(): number {
    return this.#timeline.now;
  }

  /** When something is due next; undefined when nothing is. */
  get nextDue(): number | undefined {
    return this.#timeline.next;
  }

  /** Makes everything happen that is due up to `now`, in order. */
  advance(now: number): void {
    this.#timeline.advance(now);
  }

  // --- pods ------------------------------------------------------------------------------------------------------------------------

  /** A container starts: the same volume gives the same data and the same server_uuid. */
  start(pod: PodOfServer): Server {
    const volume = this.#volumes.get(pod.volume) ?? newVolume(this.#uuid());
    this.#volumes.set(pod.volume, volume);
    const server = new Server({ ...pod, version: versionOf(pod.image), volume });
    this.#servers.add(server);
    this.#boot(server);
    return server;
  }

  /** SIGTERM: leaves the group, which elects another primary at once, and ends. */
  stop(server: Server): void {
    this.#views.depart(server);
    this.#end(server);
  }

  /** The pod is gone without a word, as when its node dies. */
  vanish(server: Server): void {
    const { view } = server;
    this.#end(server);
    if (view) this.#views.fellSilent(server, view);
  }

  /** The data of every volume, for another model to begin with. */
  get volumes(): Record<string, SavedVolume> {
    return Object.fromEntries([...this.#volumes].map(([uid, volume]) => [uid, savedVolume(volume)]));
  }

  removeVolume(uid: string): void {
    this.#volumes.delete(uid);
  }

  server(namespace: string, pod: string): Server | undefined {
    return this.#servers.ofPod(namespace, pod);
  }

  serverAt(address: string): Server | undefined {
    return this.#servers.at(address);
  }

  clusterOf(namespace: string, cluster: string): Server[] {
    return this.#servers.ofCluster(namespace, cluster);
  }

  /** Told after every change of a server, so that readiness and nudges can follow. Returns how to stop. */
  onChange(listener: (server: Server) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  // --- faults ----------------------------------------------------------------------------------------------------------------------

  /** SIGKILL of mysqld; whoever runs in the pod starts it again in place. */
  kill(server: Server): void {
    const { view } = server;
    server.forget();
    // the others keep it in their view until they expel it
    if (view) this.#views.fellSilent(server, view);
    this.#boot(server);
  }

  /** SIGSTOP: silent, but it remembers. */
  pause(server: Server): void {
    if (server.process !== 'running') return;
    server.process = 'paused';
    if (server.view) this.#views.fellSilent(server, server.view);
    this.#changed(server);
  }

  /** SIGCONT: for a while it believes what it last knew. */
  resume(server: Server): void {
    if (server.process !== 'paused') return;
    server.process = 'running';
    this.#views.spokeAgain(server, this.times.delusion);
  }

  /** The other members do not reach it any more, nor it them. */
  cut(server: Server): void {
    server.cut = true;
    if (server.view) this.#views.fellSilent(server, server.view);
    this.#changed(server);
  }

  heal(server: Server): void {
    server.cut = false;
    this.#views.spokeAgain(server, 0);
  }

  /** Takes connections and does not answer them. */
  hang(server: Server, hangs = true): void {
    server.hangs = hangs;
    this.#changed(server);
  }

  /** From now on it receives transactions and does not execute them; or it executes all that it received. */
  lag(server: Server, lags = true): void {
    server.lags = lags;
    if (!lags) server.catchUp();
  }

  // --- orders, as a client of the server gives them --------------------------------------------------------------------------------

  /** START GROUP_REPLICATION with bootstrap_group = ON. */
  bootstrap(server: Server): void {
    if (server.view) return;
    this.#views.found(server);
  }

  /** START GROUP_REPLICATION with seeds (host names). */
  join(server: Server, seeds: readonly string[]): void {
    if (server.view || server.cloning) return;
    const seed = this.clusterOf(server.namespace, server.cluster).find(
      (one) => seeds.includes(one.host) && one !== server && isDonor(one) && one.hasMajority,
    );
    if (!seed?.view || server.cut) return this.#refuse(server, 'cannot reach a member of the group (3092)');
    if (seed.view.members.some((member) => member.volume === server.volume)) {
      return this.#refuse(server, 'an earlier incarnation is still in the group (3092)');
    }
    if (!contains(seed.transactions, server.transactions)) {
      return this.#refuse(server, 'holds transactions that the group does not have (3092)');
    }
    this.#views.admit(seed.view, server);
    this.#joining.recover(server, seed);
  }

  /** CLONE INSTANCE, on a server outside every group: all data is replaced, errant transactions too. */
  clone(server: Server, donor: Server): void {
    if (server.view || server.cloning) return;
    this.#joining.clone(server, donor);
  }

  /** STOP GROUP_REPLICATION. */
  leave(server: Server): void {
    this.#views.depart(server);
    server.forget();
    this.#changed(server);
  }

  /** group_replication_set_as_primary(uuid). False when it is no ONLINE member of that group. */
  setPrimary(via: Server, uuid: string): boolean {
    const target = via.view?.members.find((member) => member.volume.uuid === uuid);
    if (!via.view || !target || !isDonor(target) || !via.hasMajority) return false;
    target.catchUp();
    via.view.primary = target;
    for (const member of via.view.members) this.#changed(member);
    return true;
  }

  // --- transactions ----------------------------------------------------------------------------------------------------------------

  /** A transaction by a client of the primary; true when it was acknowledged, that is when a majority has it. */
  write(server: Server, groupName: string): boolean {
    return this.#transactions.commit(server, groupName);
  }

  /** A transaction that the others received, but that the primary did not live to commit and to acknowledge. */
  writeUnfinished(server: Server, groupName: string): void {
    this.#transactions.broadcast(server, groupName);
  }

  /** A transaction outside the group, as a user with too many rights makes it. */
  writeErrant(server: Server): void {
    this.#transactions.outsideTheGroup(server);
  }

  /** Binary logs are removed: whoever lacks what is in them now has to clone. */
  purge(server: Server): void {
    server.volume.purged = server.volume.executed;
  }

  /** Acknowledged transactions that the cluster's primary does not have, as a GTID set; '' when there are none, or no primary. */
  lostWrites(namespace: string, cluster: string): string {
    const primary = this.#writable(namespace, cluster)[0];
    return primary ? this.#transactions.missingOn(primary) : '';
  }

  // -----------------------------------------------------------------------------------------------------------------------------------

  #boot(server: Server): void {
    server.process = 'starting';
    server.hangs = false;
    this.#timeline.whileItLives(server, this.times.start, () => {
      server.process = 'running';
      this.#changed(server);
    });
    this.#changed(server);
  }

  #end(server: Server): void {
    server.process = 'stopped';
    server.forget();
    this.#servers.remove(server);
    this.#changed(server);
  }

  #refuse(server: Server, why: string): void {
    server.trouble = why;
    this.#changed(server);
  }

  #changed(server: Server): void {
    const writable = this.#writable(server.namespace, server.cluster).map((one) => one.pod);
    const violation = `${server.namespace}/${server.cluster}: ${writable.join(' and ')} are both writable`;
    if (writable.length > 1 && !this.violations.includes(violation)) this.violations.push(violation);
    for (const listener of this.#listeners) listener(server);
  }

  /** Servers whose writes are acknowledged: never more than one. */
  #writable(namespace: string, cluster: string): Server[] {
    return this.clusterOf(namespace, cluster).filter((one) => one.believesWritable && one.hasMajority);
  }
}

/** `mysql:8.4` → 8.4.0; a tag without a version is the newest. */
function versionOf(image: string): string {
  const [, major, minor = '0', patch = '0'] =
    /:(\d+)(?:\.(\d+))?(?:\.(\d+))?[^/:@]*(?:@.*)?$/.exec(image) ?? [];
  return major && Number(major) >= 5 ? `${major}.${minor}.${patch}` : '9.0.0';
}
