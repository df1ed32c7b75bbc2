/** What is asked of the end of every plan, and of all that happened until then. */
import { at, isObject, type JsonObject, textAt } from '../../src/local/api/json.ts';
import type { Change } from '../../src/local/api/store.ts';
import { parsePodName } from '../../src/resource/names.ts';
import { differences, type EndState, endState } from './mask.ts';
import type { Workload } from './workloads.ts';
import type { World } from './world.ts';

/** How often each object was created and deleted. Pods are counted by cluster: which of them is replaced depends on who is the primary. */
export type Counts = Readonly<Record<string, number>>;

export interface Baseline {
  readonly end: EndState;
  readonly counts: Counts;
}

export function countsOf({ past }: World): Counts {
  const counts: Record<string, number> = {};
  for (const { type, stored } of past.changes) {
    if (type === 'MODIFIED' || stored.resource === 'events.') continue;
    const [plural = ''] = stored.resource.split('.');
    const name = plural === 'pods' ? (parsePodName(stored.name)?.cluster ?? stored.name) : stored.name;
    const key = `${type.toLowerCase()} ${plural} ${stored.namespace}/${name}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

/** What is wrong at the end of a run that has come to rest; nothing when nothing is. */
export function faultsOf(world: World, workload: Workload, baseline: Baseline): string[] {
  const { cluster } = world;
  return [
    ...world.violations,
    ...cluster.model.violations,
    ...world.mysqls().flatMap((mysql) => {
      const namespace = textAt(mysql, 'metadata', 'namespace') ?? '';
      const name = textAt(mysql, 'metadata', 'name') ?? '';
      const lost = cluster.model.lostWrites(namespace, name);
      return lost ? [`acknowledged writes of ${namespace}/${name} are lost: ${lost}`] : [];
    }),
    ...world.past.changes.flatMap((change) => forbidden(change, workload)),
    ...unequal(baseline.end, endState(world)),
    ...tooOften(baseline.counts, countsOf(world)),
  ];
}

function forbidden({ type, stored, before }: Change, { deletesVolumes }: Workload): string[] {
  if (type === 'DELETED' && stored.resource === 'persistentvolumeclaims.' && !deletesVolumes)
    return [`the volume claim ${stored.name} was deleted`];
  if (type !== 'MODIFIED' || stored.resource !== 'secrets.') return [];
  const data = at(stored.object, 'data');
  return Object.entries((before?.data ?? {}) as JsonObject).flatMap(([key, value]) =>
    isObject(data) && data[key] === value ? [] : [`${key} in Secret ${stored.name} was replaced`],
  );
}

/** Volumes of members that were wanted for a while only are kept once they are made, and need not be made when that while is missed. */
function unequal(expected: EndState, found: EndState): string[] {
  return differences(expected, found).filter((difference) => !isSpareVolume(difference, expected));
}

function isSpareVolume(difference: string, expected: EndState): boolean {
  const [, namespace, cluster, ordinal] =
    /^PersistentVolumeClaim ([^/]+)\/data-(.+)-(\d+): .* → nothing$/.exec(difference) ?? [];
  const size = at(expected[`Mysql ${namespace}/${cluster}`], 'spec', 'size');
  return ordinal !== undefined && Number(ordinal) >= Number(size ?? 0);
}

/** Steps in between may be missed, so less is fine. */
const tooOften = (expected: Counts, found: Counts): string[] =>
  Object.entries(found).flatMap(([what, count]) =>
    count > (expected[what] ?? 0) ? [`${what}: ${count} times, not ${expected[what] ?? 0}`] : [],
  );
