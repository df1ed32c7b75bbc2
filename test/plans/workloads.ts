/** What users do to a Mysql and what happens to one, in short: each is run undisturbed once, and then under every perturbation. */
import { groupName } from '../../src/desired/secret.ts';
import type { JsonObject } from '../../src/local/api/json.ts';
import { ANNOTATION, API_VERSION, KIND, LABEL, type MysqlRef, podName } from '../../src/resource/names.ts';
import type { World } from './world.ts';

export interface Step {
  readonly say: string;
  readonly act: (world: World) => void;
  /** Milliseconds after which the next step comes at the latest; it comes sooner when nothing more happens. */
  readonly most?: number;
}

export interface Workload {
  readonly name: string;
  readonly about: string;
  /** What is there and has come to rest before it begins. */
  readonly before: (world: World) => void;
  readonly steps: readonly Step[];
  /** Volumes may be deleted: the user asked for it. */
  readonly deletesVolumes?: boolean;
}

export const DB: MysqlRef = { namespace: 'shop', name: 'db' };
const BESIDE: MysqlRef = { namespace: 'shop', name: 'db-2' };
const ELSEWHERE: MysqlRef = { namespace: 'lab', name: 'db' };

export const SPEC: JsonObject = { size: 3, image: 'mysql:8.4' };
const atRest =
  (...refs: readonly MysqlRef[]) =>
  (world: World) => {
    for (const ref of refs) world.apply(ref, SPEC);
  };
const nothing = (): void => undefined;

const apply = (say: string, spec: JsonObject, most?: number): Step => ({
  say,
  act: (world) => world.apply(DB, spec),
  ...(most === undefined ? {} : { most }),
});

/** A client writes to whoever is the primary; while there is none, it gets no acknowledgement. */
function write(world: World, ref: MysqlRef = DB): void {
  const primary = world.primary(ref);
  if (primary) world.cluster.model.write(primary, groupName(ref.namespace, ref.name));
}

/** The pod is gone without a word, as when its node dies. */
const losePod = (world: World, ordinal: number, ref: MysqlRef = DB): void =>
  world.delete('v1', 'Pod', { namespace: ref.namespace, name: podName(ref.name, ordinal) }, 0);

export const WORKLOADS: readonly Workload[] = [
  {
    name: 'create',
    about: 'a new Mysql of three members',
    before: nothing,
    steps: [apply('create', SPEC)],
  },
  {
    name: 'create-5.7',
    about: 'a new Mysql of MySQL 5.7',
    before: nothing,
    steps: [apply('create', { size: 3, image: 'mysql:5.7' })],
  },
  {
    name: 'scale',
    about: 'size 3 → 5 → 3, the second before the first is done',
    before: atRest(DB),
    steps: [
      apply('size 5', { ...SPEC, size: 5 }, 2_200),
      apply('size 3', SPEC),
      apply('size 5', { ...SPEC, size: 5 }),
      apply('size 3', SPEC),
    ],
  },
  {
    name: 'image',
    about: 'another image: a rollout with a switchover',
    before: atRest(DB),
    steps: [apply('another image', { ...SPEC, image: 'mysql:9.0' })],
  },
  {
    name: 'config',
    about: 'another variable: a rollout with a switchover',
    before: atRest(DB),
    steps: [apply('another variable', { ...SPEC, config: { max_connections: '500' } })],
  },
  {
    name: 'bad-image',
    about: 'an image that nobody can pull, and back',
    before: atRest(DB),
    steps: [apply('a bad image', { ...SPEC, image: 'bad:8.4' }), apply('the good one', SPEC)],
  },
  {
    name: 'primary-lost',
    about: "the primary's pod is gone without a word, under writes",
    before: atRest(DB),
    steps: [
      { say: 'a client writes', act: write },
      { say: 'the primary is gone', act: (world) => losePod(world, 0) },
      { say: 'a client writes', act: write },
    ],
  },
  {
    name: 'all-lost',
    about: 'all pods are gone; the last writes are on ordinals 1 and 2 only',
    before: atRest(DB),
    steps: [
      {
        say: 'another primary, and a write',
        act: (world) => {
          const target = world.server(DB, 2);
          if (target) world.cluster.model.setPrimary(target, target.volume.uuid);
          write(world);
        },
      },
      {
        say: 'ordinal 0 is cut off',
        act: (world) => {
          const server = world.server(DB, 0);
          if (server) world.cluster.model.cut(server);
        },
        most: 7_000,
      },
      {
        say: 'a write, and all pods are gone',
        act: (world) => {
          write(world);
          for (const ordinal of [0, 1, 2]) losePod(world, ordinal);
        },
      },
    ],
  },
  {
    name: 'recreate',
    about: 'deleted, and created again under the same name over the kept volumes',
    before: (world) => {
      world.apply(DB, SPEC);
    },
    steps: [
      { say: 'a client writes', act: write },
      { say: 'delete', act: (world) => world.delete(API_VERSION, KIND, DB), most: 1_000 },
      apply('create again', SPEC),
    ],
  },
  {
    name: 'delete',
    about: 'deleted with its volumes, as its spec asks for',
    before: (world) => world.apply(DB, { ...SPEC, storage: { whenDeleted: 'Delete' } }),
    steps: [{ say: 'delete', act: (world) => world.delete(API_VERSION, KIND, DB) }],
    deletesVolumes: true,
  },
  {
    name: 'hibernate',
    about: 'size 0, and back to 3',
    before: atRest(DB),
    steps: [
      { say: 'a client writes', act: write },
      apply('size 0', { ...SPEC, size: 0 }),
      apply('size 3', SPEC),
    ],
  },
  {
    name: 'switchover',
    about: 'spec.primary 2, then 1',
    before: atRest(DB),
    steps: [apply('primary 2', { ...SPEC, primary: 2 }), apply('primary 1', { ...SPEC, primary: 1 })],
  },
  {
    name: 'neighbours',
    about: 'two in one namespace and the same name in another: one is resized, one deleted',
    before: atRest(DB, BESIDE, ELSEWHERE),
    steps: [
      apply('one gets size 1', { ...SPEC, size: 1 }),
      { say: 'one is deleted', act: (world) => world.delete(API_VERSION, KIND, ELSEWHERE) },
    ],
  },
  {
    name: 'edited',
    about: 'children deleted and edited by hand',
    before: atRest(DB),
    steps: [
      {
        say: 'Services, the budget and the ConfigMap',
        act: (world) => {
          world.delete('v1', 'Service', { ...DB, name: 'db-read' });
          world.delete('policy/v1', 'PodDisruptionBudget', DB);
          world.edit('v1', 'ConfigMap', { ...DB, name: 'db-config' }, { data: { 'my.cnf': 'edited' } });
          world.edit('v1', 'Service', DB, { spec: { selector: { app: 'other' } } });
        },
      },
      {
        say: 'a stripped role',
        act: (world) =>
          world.edit(
            'v1',
            'Pod',
            { ...DB, name: 'db-0' },
            { metadata: { labels: { [LABEL.role]: null, [LABEL.reads]: 'true' } } },
          ),
      },
      {
        say: 'the StatefulSet gets four replicas',
        act: (world) => world.edit('apps/v1', 'StatefulSet', DB, { spec: { replicas: 4 } }),
      },
    ],
  },
  {
    name: 'set-deleted',
    about: 'the StatefulSet is deleted by hand, and all pods with it',
    before: atRest(DB),
    steps: [
      { say: 'a client writes', act: write },
      { say: 'the StatefulSet is deleted', act: (world) => world.delete('apps/v1', 'StatefulSet', DB) },
    ],
  },
  {
    name: 'errant',
    about: 'a member with transactions of its own is kept out, then rebuilt',
    before: atRest(DB),
    steps: [
      { say: 'a client writes', act: write },
      {
        say: 'a member writes by itself and restarts',
        act: (world) => {
          const server = world.server(DB, 1);
          if (!server) return;
          world.cluster.model.writeErrant(server);
          world.cluster.model.kill(server);
        },
      },
      { say: 'rebuild it', act: (world) => world.apply(DB, SPEC, { [ANNOTATION.rebuild]: 'db-1' }) },
    ],
  },
];

export function workloadOf(name: string): Workload {
  const found = WORKLOADS.find((workload) => workload.name === name);
  if (!found) throw new Error(`there is no workload ${name}: ${WORKLOADS.map((one) => one.name).join(', ')}`);
  return found;
}
