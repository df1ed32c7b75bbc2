/** Builds Observed clusters for tests: `aCluster({ size: 3 }).online().offline(1).decide()`. */
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { configMap } from '../desired/config-map.ts';
import { withDigest } from '../desired/digest.ts';
import { disruptionBudget } from '../desired/disruption-budget.ts';
import type { DesiredSettings } from '../desired/index.ts';
import { newSecret } from '../desired/secret.ts';
import { nodesService, primaryService, readService } from '../desired/services.ts';
import { statefulSet } from '../desired/statefulset.ts';
import type { KubernetesObject } from '../kubernetes/cluster.ts';
import type { MemberAnswer, MemberReport, Peer } from '../mysql/members.ts';
import { accessOf } from '../observe/access.ts';
import type { Children, Observed } from '../observe/observed.ts';
import type { Mysql, MysqlSpec, MysqlStatus } from '../resource/mysql.ts';
import { claimName, LABEL, podHost, podName, selectorLabels } from '../resource/names.ts';
import { type Decision, decide } from './decide.ts';

export { orders, writes, writtenSet } from './testing-verdict.ts';

const NAMESPACE = 'shop';
const NAME = 'db';
const GROUP = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const MADE = '2026-01-02T03:00:00Z';

export const NOW = new Date('2026-01-02T03:04:05.678Z');
/** Seconds before NOW, as Kubernetes writes times. */
export const secondsAgo = (seconds: number): string =>
  new Date(NOW.getTime() - seconds * 1_000).toISOString().replace(/\.\d+Z$/, 'Z');

/** Transactions of the group: `gtids('1-10')`. */
export const gtids = (intervals: string): string => `${GROUP}:${intervals}`;
/** Transactions that a member made by itself. */
export const ownGtids = (ordinal: number, intervals: string): string => `${uuidOf(ordinal)}:${intervals}`;
export const uuidOf = (ordinal: number): string => `00000000-0000-4000-8000-00000000000${ordinal}`;

export const settings: DesiredSettings = {
  nudgeUrl: 'http://mysql-operator.mysql-operator.svc.cluster.local/',
  scripts: { 'run.sh': '#!/bin/bash\n' },
  newPassword: () => 'secret',
};

/** Default: a running, up-to-date pod. */
interface PodDraft {
  readonly phase?: 'Pending' | 'Running';
  readonly deleting?: boolean;
  readonly outdated?: boolean;
  /** Waiting reason of its container. */
  readonly waiting?: string;
  /** Message of PodScheduled = False. */
  readonly unscheduled?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

interface MemberDraft {
  pod: PodDraft | undefined;
  /** A string: why it does not answer. */
  says: Partial<MemberAnswer> | string;
}

export class ClusterBuilder {
  #mysql: Mysql;
  readonly #members: MemberDraft[] = [];
  #replicas: number | undefined;
  #noted: number | undefined;
  #rolledOut = true;
  #children: Partial<Children> = {};
  #creationTrouble: string | undefined;
  #claims: { count: number; made: string } | undefined;

  constructor(spec: Partial<MysqlSpec>) {
    this.#mysql = {
      apiVersion: 'example.com/v1alpha1',
      kind: 'Mysql',
      metadata: {
        namespace: NAMESPACE,
        name: NAME,
        uid: 'mysql-uid',
        resourceVersion: '7',
        generation: 1,
        creationTimestamp: MADE,
      },
      spec: { size: 3, image: 'mysql:8.4', storage: { size: '10Gi', whenDeleted: 'Retain' }, ...spec },
    };
    this.replicas(Math.trunc(this.#mysql.spec.size));
  }

  /** Changes the spec of a cluster that stands; its objects are made anew from it. */
  spec(spec: Partial<MysqlSpec>): this {
    this.#mysql = { ...this.#mysql, spec: { ...this.#mysql.spec, ...spec } };
    return this;
  }

  /** Replicas of the live StatefulSet, each with a running pod whose server is OFFLINE and empty; undefined: no StatefulSet. */
  replicas(count: number | undefined): this {
    this.#replicas = count;
    while (this.#members.length < (count ?? 0)) this.#members.push({ pod: {}, says: {} });
    this.#members.length = count ?? 0;
    return this;
  }

  /** A hibernated StatefulSet's note of its members. */
  noted(members: number): this {
    this.#noted = members;
    return this;
  }

  /** The replicas went to 0; the pods are ending. */
  stopped(): this {
    this.#replicas = 0;
    for (const ordinal of this.#members.keys()) this.pod(ordinal, { deleting: true });
    return this;
  }

  /** The StatefulSet controller has not looked at the current template yet. */
  notRolledOut(): this {
    this.#rolledOut = false;
    return this;
  }

  /** All members ONLINE in one view, labelled so. */
  online(primary = 0, executed = gtids('1-10')): this {
    const ordinals = this.#members.map((_, ordinal) => ordinal);
    for (const ordinal of ordinals) {
      const role = ordinal === primary ? 'primary' : 'secondary';
      const reads = role === 'secondary' || ordinals.length === 1;
      this.pod(ordinal, { labels: { [LABEL.role]: role, ...(reads ? { [LABEL.reads]: 'true' } : {}) } });
    }
    return this.inView('view:1', ordinals, { primary, executed });
  }

  /** These members hold this view; `sees` as all of them see it (ONLINE when not named), also members that do not hold it. */
  inView(
    viewId: string,
    ordinals: readonly number[],
    view: {
      readonly primary?: number;
      readonly executed?: string;
      readonly sees?: Readonly<Record<number, Peer['state']>>;
    } = {},
  ): this {
    const { primary, executed = gtids('1-10'), sees = {} } = view;
    const role = (ordinal: number) => (ordinal === primary ? 'PRIMARY' : 'SECONDARY');
    const listed = [...new Set([...ordinals, ...Object.keys(sees).map(Number)])];
    const peers = listed.map(
      (ordinal): Peer => ({
        uuid: uuidOf(ordinal),
        host: podHost({ namespace: NAMESPACE, name: NAME }, podName(NAME, ordinal)),
        state: sees[ordinal] ?? 'ONLINE',
        role: role(ordinal),
      }),
    );
    for (const ordinal of ordinals) {
      this.#draft(ordinal).says = {
        viewId,
        peers,
        state: sees[ordinal] ?? 'ONLINE',
        role: role(ordinal),
        executed,
        superReadOnly: ordinal !== primary,
      };
    }
    return this.bootstrapped();
  }

  /** A server that answers and is in no group. */
  offline(ordinal: number, executed = gtids('1-10'), more: Partial<MemberAnswer> = {}): this {
    this.#draft(ordinal).says = { executed, ...more };
    return this;
  }

  silent(ordinal: number, why = 'does not answer in time'): this {
    this.#draft(ordinal).says = why;
    return this;
  }

  pod(ordinal: number, pod: PodDraft): this {
    const draft = this.#draft(ordinal);
    draft.pod = { ...draft.pod, ...pod };
    return this;
  }

  withoutPod(ordinal: number): this {
    this.#draft(ordinal).pod = undefined;
    return this;
  }

  /** A record of a bootstrap in the status. */
  bootstrapped(member = 0, executed = ''): this {
    return this.status({ bootstrap: { member: podName(NAME, member), executed, at: MADE } });
  }

  status(status: MysqlStatus): this {
    this.#mysql = { ...this.#mysql, status: { ...this.#mysql.status, ...status } };
    return this;
  }

  annotated(annotations: Readonly<Record<string, string>>): this {
    this.#mysql = { ...this.#mysql, metadata: { ...this.#mysql.metadata, annotations } };
    return this;
  }

  named(name: string): this {
    this.#mysql = { ...this.#mysql, metadata: { ...this.#mysql.metadata, name } };
    return this;
  }

  /** Another live child than the one the operator would have made. */
  child<K extends keyof Children>(child: K, change: (made: NonNullable<Children[K]>) => Children[K]): this {
    const made = this.observed().children[child];
    if (!made) throw new Error(`the test has no ${child}`);
    this.#children = { ...this.#children, [child]: change(made) };
    return this;
  }

  creationTrouble(text: string): this {
    this.#creationTrouble = text;
    return this;
  }

  /** Claims that exist (default: one a replica, as old as the Mysql) and when they were made. */
  claims(count: number, made = MADE): this {
    this.#claims = { count, made };
    return this;
  }

  /** Settled objects are what the operator itself would have applied. */
  observed(): Observed {
    const mysql = this.#mysql;
    const replicas = this.#replicas ?? 0;
    const noted = this.#noted === undefined ? {} : { noted: this.#noted };
    const credentials = live('Secret', newSecret(mysql, settings.newPassword));
    const access = accessOf(credentials);
    const set = live('StatefulSet', withDigest(statefulSet(mysql, { replicas, ...noted }, undefined)));
    const made: Children = {
      statefulSet:
        this.#replicas === undefined
          ? undefined
          : {
              ...set,
              status: { replicas, observedGeneration: this.#rolledOut ? 1 : 0, updateRevision: 'new' },
            },
      secret: credentials,
      configMap: live('ConfigMap', withDigest(configMap(mysql, access?.groupName, settings))),
      primaryService: live('Service', withDigest(primaryService(mysql))),
      readService: live('Service', withDigest(readService(mysql))),
      nodesService: live('Service', withDigest(nodesService(mysql))),
      disruptionBudget: live('PodDisruptionBudget', withDigest(disruptionBudget(mysql))),
    };
    const claims = this.#claims ?? { count: this.#members.length, made: MADE };
    return {
      mysql,
      children: { ...made, ...this.#children },
      pods: this.#members.flatMap((draft, ordinal) => (draft.pod ? [podFrom(draft.pod, ordinal)] : [])),
      claims: Array.from({ length: claims.count }, (_, ordinal) => ({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: {
          namespace: NAMESPACE,
          name: claimName(NAME, ordinal),
          uid: `claim-${ordinal}-uid`,
          resourceVersion: '2',
          creationTimestamp: claims.made,
          labels: selectorLabels(NAME),
        },
        spec: { resources: { requests: { storage: '10Gi' } } },
      })),
      reports: this.#members.flatMap(({ pod, says }, ordinal) =>
        pod && isRunning(pod) ? [reportFrom(says, ordinal)] : [],
      ),
      access,
      creationTrouble: this.#creationTrouble,
      at: NOW,
    };
  }

  decide(): Decision {
    return decide(this.observed(), settings);
  }

  #draft(ordinal: number): MemberDraft {
    const draft = this.#members[ordinal];
    if (!draft) throw new Error(`the test has no member ${ordinal}`);
    return draft;
  }
}

export const aCluster = (spec: Partial<MysqlSpec> = {}): ClusterBuilder => new ClusterBuilder(spec);

const live = <T extends KubernetesObject>(kind: string, object: T): T => ({
  ...object,
  metadata: {
    ...object.metadata,
    uid: `${kind}-${object.metadata?.name}-uid`,
    resourceVersion: '3',
    generation: 1,
  },
});

const isRunning = (pod: PodDraft): boolean =>
  (pod.phase ?? 'Running') === 'Running' && !pod.waiting && !pod.unscheduled;

function podFrom(draft: PodDraft, ordinal: number): Pod {
  const { waiting, unscheduled } = draft;
  const phase = isRunning(draft) ? 'Running' : 'Pending';
  const container = { name: 'mysqld', image: '', imageID: '', ready: false, restartCount: 0 };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: NAMESPACE,
      name: podName(NAME, ordinal),
      uid: `pod-${ordinal}-uid`,
      resourceVersion: '5',
      labels: {
        ...selectorLabels(NAME),
        'controller-revision-hash': draft.outdated ? 'old' : 'new',
        ...draft.labels,
      },
      ...(draft.deleting ? { deletionTimestamp: secondsAgo(1) } : {}),
    },
    status: {
      phase,
      ...(phase === 'Running' ? { podIP: `10.0.0.${ordinal + 1}` } : {}),
      conditions: unscheduled
        ? [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: unscheduled }]
        : [{ type: 'PodScheduled', status: 'True' }],
      containerStatuses: waiting
        ? [{ ...container, state: { waiting: { reason: waiting, message: 'as the kubelet says' } } }]
        : [],
    },
  };
}

function reportFrom(says: Partial<MemberAnswer> | string, ordinal: number): MemberReport {
  const name = podName(NAME, ordinal);
  if (typeof says === 'string') return { answered: false, name, why: says };
  return {
    answered: true,
    name,
    uuid: uuidOf(ordinal),
    version: '8.4.3',
    state: 'OFFLINE',
    role: undefined,
    viewId: undefined,
    peers: [],
    executed: '',
    received: '',
    superReadOnly: true,
    cloning: false,
    trouble: '',
    ...says,
  };
}
