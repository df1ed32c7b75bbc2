/**
 * Everything that a plan runs in: API server, controllers and modelled MySQL servers, the forwarder of events and the probes, and one or
 * two processes of the function, all on time that only `run` moves. The same plan gives the same run.
 */
import type { DesiredSettings } from '../../src/desired/index.ts';
import { NUDGE, RESYNC } from '../../src/event/concern.ts';
import { KubernetesClient } from '../../src/kubernetes/client.ts';
import type { Cluster } from '../../src/kubernetes/cluster.ts';
import type { Send } from '../../src/kubernetes/request.ts';
import { type JsonObject, textAt } from '../../src/local/api/json.ts';
import { handlerFor } from '../../src/local/api/server.ts';
import { Store } from '../../src/local/api/store.ts';
import { EmbeddedCluster } from '../../src/local/cluster.ts';
import { Forwarder } from '../../src/local/forwarder.ts';
import type { Server } from '../../src/local/group/server.ts';
import { sendTo } from '../../src/local/in-process.ts';
import { nudgeHeaders, nudging } from '../../src/local/nudges.ts';
import type { Pass } from '../../src/pass.ts';
import { API_VERSION, KIND, type MysqlRef, parsePodName, podName, refKey } from '../../src/resource/names.ts';
import type { Around, Call, Go } from './calls.ts';
import { Instance, REPLY_BUDGET, type Sent, type Watched } from './instance.ts';
import { Past } from './past.ts';
import { adopt, type Rest, restOf } from './rest.ts';
import { VirtualTime } from './time.ts';

/** One call of the function, counted from 0 over the whole workload. */
export interface Moment {
  readonly call: Call;
  readonly number: number;
  /** Of writes: how many came before. */
  readonly write: number | undefined;
  readonly pass: number;
  readonly ref: MysqlRef;
}

/** What may be done to a run. Each is asked at every call, event and pass of the workload. */
export interface Perturbation {
  readonly call?: <T>(moment: Moment, go: Go<T>, world: World) => Promise<T>;
  /** Gives the status that the sender sees. */
  readonly event?: (number: number, deliver: () => Promise<number>, world: World) => Promise<number>;
  readonly pass?: (number: number, ref: MysqlRef, world: World) => void;
  /** Chooses which of the calls that wait goes on; all calls wait once this is there. */
  readonly schedule?: (waiting: number, world: World) => number;
  /** Two processes get every event. */
  readonly twins?: boolean;
}

export interface WorldOptions {
  readonly from?: Rest | undefined;
  readonly perturbations?: readonly Perturbation[];
  /** False: the function never looks again by itself during the workload. */
  readonly looks?: boolean;
  readonly trace?: ((line: string) => void) | undefined;
}

export const START = Date.parse('2026-01-02T03:04:05Z');
const NAMESPACES = ['shop', 'lab'];
/** Milliseconds. */
const PROBE_PERIOD = 1_000;
const NUDGE_EVERY = 10_000;
/** Probes that have had nothing new to say for this long are not heard until something changes. */
const PROBES_REST_AFTER = 25_000;
/** Steps of one `run`: beyond it, it runs in circles without time passing. */
const MOST_STEPS = 100_000;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class World {
  readonly time: VirtualTime;
  readonly cluster: EmbeddedCluster;
  readonly past: Past;
  /** The function's calls and the events of the workload, for plans to choose from. */
  readonly moments: Moment[] = [];
  readonly events: Sent[] = [];
  passes = 0;
  /** Those passes before which anything had changed since the one before. */
  readonly fresh: number[] = [];
  /** What must never be, as it was seen. */
  readonly violations: string[] = [];
  /** Writes of the function, in all phases. */
  writes = 0;
  readonly #options: WorldOptions;
  readonly #ports: { readonly cluster: Cluster; readonly settings: DesiredSettings };
  readonly #probe: (now: number) => void;
  #instance: Instance;
  #twin: Instance | undefined;
  #perturbed = false;
  #looks: boolean;
  #writesOfWorkload = 0;
  #uids: number;
  #passwords: number;
  #changedAt: number;
  /** Changes of the API server and of members, now and when the last pass began. */
  #changes = 0;
  #changesBefore = -1;
  #probing = false;
  /** Goes up whenever anything happens: when it stands still, nothing more happens at this moment. */
  #stirred = 0;
  readonly #held: (() => void)[] = [];

  constructor(options: WorldOptions = {}) {
    const { from } = options;
    this.#options = options;
    this.#looks = options.looks ?? true;
    this.#uids = from?.uids ?? 0;
    this.#passwords = from?.passwords ?? 0;
    this.time = new VirtualTime(from?.now ?? START);
    this.#changedAt = this.time.now;
    const clock = () => new Date(this.time.now);
    const uid = () => {
      this.#uids += 1;
      return `${`${this.#uids}`.padStart(8, '0')}-0000-4000-8000-000000000000`;
    };
    const store = new Store();
    if (from) store.restore(from.snapshot);
    this.cluster = new EmbeddedCluster({ clock, uid, store, ...(from ? { volumes: from.volumes } : {}) });
    if (from) adopt(this.cluster, from, (by) => this.#move(this.time.now + by));
    else this.#prepare();
    this.past = new Past(this.cluster.api);
    this.#ports = {
      cluster: new KubernetesClient({
        send: remembering(sendTo(handlerFor(this.cluster.api, { clock })), store),
        clock,
        instance: 'plan',
      }),
      settings: {
        nudgeUrl: 'http://operator.system.svc.cluster.local/',
        scripts: { 'run.sh': '#!/bin/bash\n' },
        newPassword: () => {
          this.#passwords += 1;
          return `password-${this.#passwords}`;
        },
      },
    };
    this.#instance = this.#newInstance('');
    const { api, model } = this.cluster;
    new Forwarder({
      api,
      source: 'https://10.96.0.1:443',
      sink: 'http://unused',
      resources: [
        { kind: api.kindOf(API_VERSION, KIND) },
        { kind: api.kindOf('v1', 'Pod'), labelSelector: 'app=mysql' },
      ],
      clock,
      pause: (milliseconds) => this.time.sleep(milliseconds),
      post: (sent) => this.#post(sent),
    });
    this.#probe = nudging({
      model,
      every: NUDGE_EVERY,
      send: (namespace, name) =>
        void this.#post({ headers: nudgeHeaders(namespace, name, `${this.#stirred}`), body: '' }),
    });
    const stir = () => {
      this.#stirred += 1;
      this.#changes += 1;
      this.#changedAt = this.time.now;
      this.#keepProbing();
    };
    api.onChange(({ type, stored }) => {
      stir();
      if (this.#options.trace && stored.resource !== 'events.')
        this.trace(`      ${type.toLowerCase()} ${stored.resource.split('.')[0]} ${stored.name}`);
    });
    model.onChange(stir);
  }

  trace(line: string): void {
    this.#options.trace?.(`${((this.time.now - START) / 1_000).toFixed(3).padStart(8)}s  ${line}`);
  }

  // --- what a workload does --------------------------------------------------------------------------------------------------------

  /** Applies the Mysql, as a user does. */
  apply({ namespace, name }: MysqlRef, spec: JsonObject, annotations: JsonObject = {}): void {
    this.cluster.applyYaml(
      JSON.stringify({
        apiVersion: API_VERSION,
        kind: KIND,
        metadata: { namespace, name, ...(Object.keys(annotations).length > 0 ? { annotations } : {}) },
        spec,
      }),
    );
  }

  /** Does nothing when there is none. */
  delete(apiVersion: string, kind: string, { namespace, name }: MysqlRef, gracePeriodSeconds?: number): void {
    const { api } = this.cluster;
    const served = api.kindOf(apiVersion, kind);
    if (!api.find(served, namespace, name)) return;
    api.delete(served, namespace, name, gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds });
  }

  /** Does nothing when there is none. */
  edit(apiVersion: string, kind: string, { namespace, name }: MysqlRef, patch: JsonObject): void {
    const { api } = this.cluster;
    const served = api.kindOf(apiVersion, kind);
    if (api.find(served, namespace, name))
      api.patch(served, namespace, name, 'merge', patch, { manager: 'kubectl' });
  }

  server({ namespace, name }: MysqlRef, ordinal: number): Server | undefined {
    return this.cluster.model.server(namespace, podName(name, ordinal));
  }

  primary({ namespace, name }: MysqlRef): Server | undefined {
    return this.cluster.model
      .clusterOf(namespace, name)
      .find((server) => server.believesWritable && server.hasMajority);
  }

  mysqls(): JsonObject[] {
    const { api } = this.cluster;
    return [...api.list(api.kindOf(API_VERSION, KIND))];
  }

  // --- what a perturbation does ----------------------------------------------------------------------------------------------------

  /** The process ends now: its passes stop where they are, and whoever waits for an answer gets none. A new one takes the next event. */
  crash(): void {
    this.trace('!!    the function is killed');
    this.#instance.kill();
    this.#instance = this.#newInstance('');
  }

  /** To every process of the function, whatever the plan does to events. */
  async deliver(sent: Sent): Promise<number> {
    if (this.#options.perturbations?.some(({ twins }) => twins)) {
      const [status] = await Promise.all([this.#instance.post(sent), this.#second().post(sent)]);
      return status;
    }
    return this.#instance.post(sent);
  }

  /** A whole pass of another process over the same Mysql, now. */
  async passOfTwin(ref: MysqlRef): Promise<void> {
    this.trace('!!    another process takes a look');
    await this.#second().post(resyncOf(ref));
    this.cluster.settle();
  }

  // --- running ---------------------------------------------------------------------------------------------------------------------

  /** From here on the plan's perturbations act, and calls and events are counted. */
  async workload(run: () => Promise<void>): Promise<void> {
    this.#perturbed = true;
    await run();
    this.#perturbed = false;
    if (!this.#looks) {
      this.#looks = true;
      this.#instance.kill();
      this.#instance = this.#newInstance('');
    }
  }

  /** One event for every Mysql there is, as the resync of the hour posts them. */
  resync(): void {
    for (const mysql of this.mysqls()) {
      const namespace = textAt(mysql, 'metadata', 'namespace') ?? '';
      void this.#post(resyncOf({ namespace, name: textAt(mysql, 'metadata', 'name') ?? '' }));
    }
  }

  /** Posts all events of the workload once more, all at once. */
  async replay(): Promise<void> {
    const statuses = Promise.all(this.events.map((sent) => this.deliver(sent)));
    await this.run(REPLY_BUDGET * 2);
    await statuses;
  }

  /** Until nothing more happens by itself; false when that takes longer than `most` milliseconds. */
  async run(most: number): Promise<boolean> {
    const end = this.time.now + most;
    for (let steps = 0; steps < MOST_STEPS; steps += 1) {
      await this.#drain();
      if (this.#releaseOne()) continue;
      const next = Math.min(
        this.time.next ?? Number.POSITIVE_INFINITY,
        this.cluster.model.nextDue ?? Number.POSITIVE_INFINITY,
      );
      if (next === Number.POSITIVE_INFINITY) return true;
      if (next > end) {
        this.#move(end);
        return false;
      }
      this.#move(next);
    }
    throw new Error('time stands still: the world runs in circles');
  }

  rest(): Rest {
    return restOf(this.cluster, { now: this.time.now, uids: this.#uids, passwords: this.#passwords });
  }

  // -----------------------------------------------------------------------------------------------------------------------------------

  #prepare(): void {
    this.cluster.installCrd();
    for (const name of NAMESPACES)
      this.cluster.applyYaml(JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
  }

  #move(now: number): void {
    this.time.advance(now);
    this.cluster.settle();
  }

  /** Everything happens that can happen at this moment. Nothing here waits for I/O, so a turn of the event loop without news is the end. */
  async #drain(): Promise<void> {
    for (let seen = -1; seen !== this.#stirred; ) {
      seen = this.#stirred;
      await nextTurn();
      this.cluster.settle();
    }
  }

  #releaseOne(): boolean {
    if (this.#held.length === 0) return false;
    const schedule = this.#options.perturbations?.find((one) => one.schedule)?.schedule;
    const [release] = this.#held.splice(schedule?.(this.#held.length, this) ?? 0, 1);
    release?.();
    return true;
  }

  #keepProbing(): void {
    if (this.#probing || this.time.now - this.#changedAt > PROBES_REST_AFTER) return;
    this.#probing = true;
    this.time.after(PROBE_PERIOD, () => {
      this.#probing = false;
      this.#probe(this.time.now);
      this.#keepProbing();
    });
  }

  async #post(sent: Sent): Promise<number> {
    this.#stirred += 1;
    const deliver = async () => {
      const begun = this.time.now;
      const status = await this.deliver(sent);
      this.#stirred += 1;
      const took = this.time.now - begun;
      if (took > REPLY_BUDGET) this.violations.push(`an event was answered after ${took} ms`);
      if (status !== 204 && status !== 503 && status !== 0)
        this.violations.push(`an event was answered with ${status}`);
      return status;
    };
    if (!this.#perturbed) return deliver();
    const number = this.events.push(sent) - 1;
    this.trace(`event ${number}: ${labelOf(sent)}`);
    const around = (this.#options.perturbations ?? []).reduce<() => Promise<number>>(
      (inner, { event }) => (event ? () => event(number, inner, this) : inner),
      deliver,
    );
    const status = await around();
    this.#stirred += 1;
    if (status !== 204) this.trace(`event ${number} was answered with ${status}`);
    return status;
  }

  #second(): Instance {
    this.#twin ??= this.#newInstance("'");
    return this.#twin;
  }

  #newInstance(mark: string): Instance {
    const { cluster, settings } = this.#ports;
    return new Instance({
      time: this.time,
      cluster,
      members: this.cluster.members,
      settings,
      looks: this.#looks,
      begin: (ref) => this.#begin(ref, mark),
      onLate: (what) => this.violations.push(what),
    });
  }

  #begin(ref: MysqlRef, mark: string): Watched {
    const pass = this.passes;
    const counted = this.#perturbed && mark === '';
    const perturbations = this.#perturbed ? (this.#options.perturbations ?? []) : [];
    if (counted) {
      this.passes += 1;
      if (this.#changes !== this.#changesBefore) this.fresh.push(pass);
      this.#changesBefore = this.#changes;
      for (const one of perturbations) one.pass?.(pass, ref, this);
    }
    const held = perturbations.some(({ schedule }) => schedule);
    const around: Around = async (call, go) => {
      this.#stirred += 1;
      if (held) {
        await new Promise<void>((release) => this.#held.push(release));
        this.#stirred += 1;
      }
      const really: typeof go = async (instead) => {
        const result = await go(instead);
        if (call.write) this.writes += 1;
        return result;
      };
      let wrapped = really;
      let told = '';
      if (counted) {
        const number = this.moments.length;
        const moment = {
          call,
          number,
          write: call.write ? this.#writesOfWorkload++ : undefined,
          pass,
          ref,
        };
        this.moments.push(moment);
        told = ` ${number}`;
        for (const one of perturbations) {
          const inner = wrapped;
          const { call: aside } = one;
          if (aside) wrapped = () => aside(moment, inner, this);
        }
      }
      try {
        const result = await wrapped();
        if (call.write) this.trace(`   call${mark}${told}: ${call.verb} ${call.what}`);
        return result;
      } catch (error) {
        this.trace(`   call${mark}${told}: ${call.verb} ${call.what} failed: ${(error as Error).message}`);
        throw error;
      } finally {
        this.#stirred += 1;
      }
    };
    const end = (result: Pass) => {
      this.#stirred += 1;
      this.trace(
        `pass${mark} ${counted ? pass : ''} over ${refKey(ref)}: ${result.state}, ${result.writes} writes. ${result.message}`,
      );
    };
    return { around, end };
  }
}

/** Most passes read what the last one read: as long as nothing was written in between, its answer is the answer. */
function remembering(send: Send, store: Store): Send {
  const known = new Map<string, unknown>();
  let version = 0;
  return async (request, signal) => {
    if (request.method !== 'GET') return send(request, signal);
    if (version !== store.version) known.clear();
    version = store.version;
    const key = `${request.path} ${JSON.stringify(request.query ?? {})}`;
    if (known.has(key)) return known.get(key);
    const asked = version;
    const answer = await send(request, signal);
    if (asked === store.version) known.set(key, answer);
    return answer;
  };
}

const resyncOf = ({ namespace, name }: MysqlRef): Sent => ({
  headers: { ...nudgeHeaders(namespace, name, 'resync'), 'ce-type': RESYNC },
  body: '',
});

function labelOf({ headers }: Sent): string {
  if (headers['ce-type'] === NUDGE) return `nudge ${headers['ce-subject']}`;
  if (headers['ce-type'] === RESYNC) return `resync ${headers['ce-subject']}`;
  const what = headers['Ce-Type']?.split('.').at(-1);
  return `${headers['Ce-Kind']} ${headers['Ce-Namespace']}/${headers['Ce-Name']} ${what}`;
}

/** Which Mysql an event is about. */
export function concerned({ headers }: Sent): string {
  const subject = headers['ce-subject'];
  if (subject) return subject;
  const name = headers['Ce-Name'] ?? '';
  const cluster = headers['Ce-Kind'] === 'Pod' ? parsePodName(name)?.cluster : name;
  return `${headers['Ce-Namespace']}/${cluster}`;
}
