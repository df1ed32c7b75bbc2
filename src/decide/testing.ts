/** Builds Observed clusters for tests: `aCluster({ size: 3 }).online().member(1, { state: 'OFFLINE' }).observed()`. */
import type { StatefulSet } from 'kubernetes-types/apps/v1.d.ts';
import type { PersistentVolumeClaim, Pod } from 'kubernetes-types/core/v1.d.ts';
import { changes, type DesiredSettings } from '../desired/index.ts';
import type { KubernetesObject } from '../kubernetes/cluster.ts';
import type { MemberAnswer, MemberReport, Peer } from '../mysql/members.ts';
import { accessOf } from '../observe/access.ts';
import type { Children, Observed } from '../observe/observed.ts';
import type { Mysql, MysqlSpec, MysqlStatus } from '../resource/mysql.ts';
import { claimName, LABEL, podHost, podName, selectorLabels } from '../resource/names.ts';
import { decide } from './decide.ts';

export const NAMESPACE = 'shop';
export const NAME = 'db';
export const GROUP_UUID = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const REF = { namespace: NAMESPACE, name: NAME };
const AT = new Date('2026-01-02T03:04:05.000Z');

export const settings: DesiredSettings = {
  nudgeUrl: 'http://mysql-operator.mysql-operator.svc.cluster.local/',
  scripts: { 'run.sh': '#!/bin/bash\n' },
  newPassword: () => 'secret',
};

export const uuidOf = (ordinal: number): string => `00000000-0000-4000-8000-00000000000${ordinal}`;

interface MemberDraft {
  answer: Partial<MemberAnswer> | undefined;
  silence: string;
  pod:
    | Partial<{
        phase: string;
        deleting: boolean;
        revision: string;
        waiting: string;
        unscheduled: string;
        labels: Record<string, string>;
      }>
    | undefined;
}

export class ClusterBuilder {
  readonly #mysql: Mysql;
  readonly #members: MemberDraft[] = [];
  #replicas: number | undefined;
  #setAnnotations: Record<string, string> = {};
  #children: Partial<Record<keyof Children, KubernetesObject | undefined>> = {};
  #creationTrouble: string | undefined;
  #claimsMade = '2026-01-02T03:00:00Z';
  #claims: number | undefined;
  #at = AT;

  constructor(spec: Partial<MysqlSpec>, status?: MysqlStatus) {
    this.#mysql = {
      apiVersion: 'example.com/v1alpha1',
      kind: 'Mysql',
      metadata: {
        namespace: NAMESPACE,
        name: NAME,
        uid: 'mysql-uid',
        resourceVersion: '7',
        generation: 1,
        creationTimestamp: '2026-01-02T03:00:00Z',
        annotations: {},
      },
      spec: { size: 3, image: 'mysql:8.4', storage: { size: '10Gi', whenDeleted: 'Retain' }, ...spec },
      ...(status ? { status } : {}),
    };
    this.replicas(Number.isInteger(spec.size) ? spec.size : 3);
  }

  /** Replicas of the live StatefulSet, each with a running pod whose server is OFFLINE and empty; undefined: no StatefulSet. */
  replicas(count: number | undefined): this {
    this.#replicas = count;
    while (this.#members.length < (count ?? 0)) this.#members.push({ answer: {}, silence: '', pod: {} });
    this.#members.length = count ?? 0;
    return this;
  }

  /** All members ONLINE in one view with this primary, holding these transactions. */
  online(primary = 0, executed = `${GROUP_UUID}:1-10`): this {
    const ordinals = this.#members.map((_, ordinal) => ordinal);
    return this.inView('v1', ordinals, primary, executed);
  }

  /** These members hold this view; `states` as all of them see it (ONLINE when not named). */
  inView(
    viewId: string,
    ordinals: readonly number[],
    primary: number,
    executed = `${GROUP_UUID}:1-10`,
    states: Record<number, Peer['state']> = {},
  ): this {
    const peers = ordinals.map(
      (ordinal): Peer => ({
        uuid: uuidOf(ordinal),
        host: podHost(REF, podName(NAME, ordinal)),
        state: states[ordinal] ?? 'ONLINE',
        role: ordinal === primary ? 'PRIMARY' : 'SECONDARY',
      }),
    );
    for (const ordinal of ordinals) {
      this.member(ordinal, {
        viewId,
        peers,
        state: states[ordinal] ?? 'ONLINE',
        role: ordinal === primary ? 'PRIMARY' : 'SECONDARY',
        executed,
        superReadOnly: ordinal !== primary,
      });
    }
    return this.bootstrapped();
  }

  member(ordinal: number, answer: Partial<MemberAnswer>): this {
    const draft = this.#draft(ordinal);
    draft.answer = { ...draft.answer, ...answer };
    return this;
  }

  silent(ordinal: number, why = 'does not answer'): this {
    const draft = this.#draft(ordinal);
    draft.answer = undefined;
    draft.silence = why;
    return this;
  }

  pod(ordinal: number, pod: NonNullable<MemberDraft['pod']>): this {
    const draft = this.#draft(ordinal);
    draft.pod = { ...draft.pod, ...pod };
    return this;
  }

  withoutPod(ordinal: number): this {
    this.#draft(ordinal).pod = undefined;
    return this;
  }

  bootstrapped(member = podName(NAME, 0), executed = ''): this {
    return this.status({ bootstrap: { member, executed, at: '2026-01-02T03:00:00Z' } });
  }

  status(status: MysqlStatus): this {
    Object.assign(this.#mysql, { status: { ...this.#mysql.status, ...status } });
    return this;
  }

  annotated(annotations: Record<string, string>): this {
    Object.assign(this.#mysql.metadata.annotations ?? {}, annotations);
    return this;
  }

  setAnnotated(annotations: Record<string, string>): this {
    this.#setAnnotations = annotations;
    return this;
  }

  child(name: keyof Children, object: KubernetesObject | undefined): this {
    this.#children[name] = object;
    return this;
  }

  creationTrouble(text: string): this {
    this.#creationTrouble = text;
    return this;
  }

  /** Claims that exist (default: one a replica) and when they were made. */
  claims(count: number, made: string): this {
    this.#claims = count;
    this.#claimsMade = made;
    return this;
  }

  at(time: Date): this {
    this.#at = time;
    return this;
  }

  observed(): Observed {
    const bare = this.#observedWith({});
    // settled objects are what the operator itself would have applied
    const made = Object.fromEntries(
      changes(bare, { replicas: this.#replicas ?? 0 }, settings).map(({ kind, object }) => [
        `${kind}/${object.metadata?.name}`,
        live(kind, object),
      ]),
    );
    const set = made[`StatefulSet/${NAME}`] as StatefulSet | undefined;
    const statefulSet =
      this.#replicas === undefined || !set
        ? undefined
        : {
            ...set,
            metadata: {
              ...set.metadata,
              annotations: { ...set.metadata?.annotations, ...this.#setAnnotations },
            },
            status: {
              replicas: this.#replicas,
              observedGeneration: 1,
              updateRevision: 'new',
              currentRevision: 'new',
            },
          };
    return this.#observedWith({
      statefulSet,
      primaryService: made[`Service/${NAME}`],
      readService: made[`Service/${NAME}-read`],
      nodesService: made[`Service/${NAME}-nodes`],
      secret: made[`Secret/${NAME}-credentials`],
      configMap: made[`ConfigMap/${NAME}-config`],
      disruptionBudget: made[`PodDisruptionBudget/${NAME}`],
      ...this.#children,
    });
  }

  decide() {
    return decide(this.observed(), settings);
  }

  #observedWith(children: Partial<Record<keyof Children, KubernetesObject | undefined>>): Observed {
    const secret = children.secret as Children['secret'];
    return {
      mysql: this.#mysql,
      children: {
        statefulSet: undefined,
        primaryService: undefined,
        readService: undefined,
        nodesService: undefined,
        configMap: undefined,
        disruptionBudget: undefined,
        ...(children as Partial<Children>),
        secret,
      },
      pods: this.#members.flatMap((draft, ordinal) => (draft.pod ? [podFrom(draft, ordinal)] : [])),
      claims: Array.from({ length: this.#claims ?? this.#members.length }, (_, ordinal) =>
        claimFrom(ordinal, this.#claimsMade),
      ),
      reports: this.#members.flatMap((draft, ordinal) => (draft.pod ? [reportFrom(draft, ordinal)] : [])),
      access: accessOf(secret),
      creationTrouble: this.#creationTrouble,
      at: this.#at,
    };
  }

  #draft(ordinal: number): MemberDraft {
    const draft = this.#members[ordinal];
    if (!draft) throw new Error(`the test has no member ${ordinal}`);
    return draft;
  }
}

export const aCluster = (spec: Partial<MysqlSpec> = {}, status?: MysqlStatus): ClusterBuilder =>
  new ClusterBuilder(spec, status);

const live = (kind: string, object: KubernetesObject): KubernetesObject => ({
  ...object,
  metadata: {
    ...object.metadata,
    uid: `${kind}-${object.metadata?.name}-uid`,
    resourceVersion: '3',
    generation: 1,
  },
});

function podFrom({ pod = {} }: MemberDraft, ordinal: number): Pod {
  const phase = pod.phase ?? (pod.waiting || pod.unscheduled ? 'Pending' : 'Running');
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: NAMESPACE,
      name: podName(NAME, ordinal),
      uid: `pod-${ordinal}-uid`,
      resourceVersion: '5',
      labels: { ...selectorLabels(NAME), 'controller-revision-hash': pod.revision ?? 'new', ...pod.labels },
      ...(pod.deleting ? { deletionTimestamp: '2026-01-02T03:04:00Z' } : {}),
    },
    status: {
      phase,
      ...(phase === 'Running' ? { podIP: `10.0.0.${ordinal + 1}` } : {}),
      conditions: pod.unscheduled
        ? [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: pod.unscheduled }]
        : [{ type: 'PodScheduled', status: 'True' }],
      containerStatuses: pod.waiting
        ? [
            {
              name: 'mysqld',
              image: '',
              imageID: '',
              ready: false,
              restartCount: 0,
              state: { waiting: { reason: pod.waiting, message: 'as it says' } },
            },
          ]
        : [],
    },
  };
}

function reportFrom({ answer, silence, pod }: MemberDraft, ordinal: number): MemberReport {
  const name = podName(NAME, ordinal);
  const running = !pod?.waiting && !pod?.unscheduled && (pod?.phase ?? 'Running') === 'Running';
  if (!answer || !running) return { answered: false, name, why: silence || 'does not answer' };
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
    ...answer,
  };
}

const claimFrom = (ordinal: number, made: string): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    namespace: NAMESPACE,
    name: claimName(NAME, ordinal),
    uid: `claim-${ordinal}-uid`,
    resourceVersion: '2',
    creationTimestamp: made,
    labels: { ...selectorLabels(NAME), [LABEL.instance]: NAME },
  },
  spec: { resources: { requests: { storage: '10Gi' } } },
});
