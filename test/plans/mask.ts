/**
 * The end of a run in a form in which two runs of the same workload are equal: without what is different in each (uids, versions, times,
 * passwords, addresses, GTIDs), and without what is left to chance on purpose (which member is the primary).
 */
import { at, isObject, type Json, type JsonObject, textAt } from '../../src/local/api/json.ts';
import { LABEL } from '../../src/resource/names.ts';
import type { World } from './world.ts';

/** By `Kind namespace/name`. */
export type EndState = Readonly<Record<string, Json>>;

/** Kinds that tell of the past, or are there before every plan. */
const LEFT_OUT: ReadonlySet<string> = new Set(['Event', 'Namespace', 'CustomResourceDefinition']);
/** Counters of how often something changed, and what was the first. */
const COUNTERS: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'generation',
  'lastTransitionTime',
  'startTime',
  'startedAt',
  'podIP',
  'podIPs',
  'currentRevision',
  'currentReplicas',
  'executed',
  'at',
  'mysql.example.com/applied',
]);

export function endState({ cluster }: World): EndState {
  const objects = [...cluster.api.store.all()]
    .map(({ object }) => object)
    .filter((object) => !LEFT_OUT.has(String(object.kind)));
  const primaries = new Map(
    objects
      .filter(({ kind }) => kind === 'Mysql')
      .map((mysql) => [
        `${textAt(mysql, 'metadata', 'namespace')}/${textAt(mysql, 'metadata', 'name')}`,
        textAt(mysql, 'status', 'primary'),
      ]),
  );
  const uids = new Set(objects.map((object) => textAt(object, 'metadata', 'uid')));
  return Object.fromEntries(
    objects
      .map((object) => {
        const { kind, metadata } = object;
        const space = textAt(metadata, 'namespace');
        const name = textAt(metadata, 'name');
        const owner = kind === 'Mysql' ? name : textAt(metadata, 'labels', LABEL.cluster);
        const primary = primaries.get(`${space}/${owner}`);
        return [`${kind} ${space}/${name}`, masked(object, { primary, uids, object })] as const;
      })
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

interface Context {
  /** Of the Mysql it belongs to. */
  readonly primary: string | undefined;
  readonly uids: ReadonlySet<string | undefined>;
  readonly object: JsonObject;
}

function masked(object: JsonObject, context: Context): Json {
  const { kind } = object;
  if (kind === 'Secret') return mask({ ...object, data: presence(object.data) }, context);
  if (kind === 'Pod') return mask(withoutRoles(object, context), context);
  if (kind === 'Mysql') return mask(withoutElection(object, context), context);
  return mask(object, context);
}

function mask(value: Json, context: Context, key = ''): Json {
  if (Array.isArray(value)) return value.map((item) => mask(item, context, key));
  if (isObject(value)) {
    const owner = key === 'ownerReferences' ? { alive: context.uids.has(textAt(value, 'uid')) } : {};
    return {
      ...owner,
      ...Object.fromEntries(
        Object.entries(value)
          .filter(([name]) => !COUNTERS.has(name))
          .map(([name, item]) => [name, mask(item, context, name)]),
      ),
    };
  }
  if (key === 'observedGeneration')
    return value === at(context.object, 'metadata', 'generation') ? 'current' : 'old';
  if (typeof value === 'string' && context.primary && key === 'message')
    return value.replaceAll(context.primary, '<primary>');
  return value;
}

const presence = (data: Json | undefined): JsonObject =>
  Object.fromEntries(Object.entries(isObject(data) ? data : {}).map(([key, value]) => [key, value !== '']));

/** What belongs on a pod follows from whether it is the primary; told as right or wrong. */
function withoutRoles(pod: JsonObject, { primary }: Context): JsonObject {
  const {
    [LABEL.role]: role,
    [LABEL.reads]: reads,
    ...labels
  } = (at(pod, 'metadata', 'labels') ?? {}) as JsonObject;
  const isPrimary = textAt(pod, 'metadata', 'name') === primary;
  const asItShould = (role === 'primary') === isPrimary;
  const alone = isPrimary && reads === 'true' ? 'primary alone' : undefined;
  const told = role === undefined ? 'none' : asItShould ? (alone ?? 'as the status says') : `wrong: ${role}`;
  return { ...pod, metadata: { ...(pod.metadata as JsonObject), labels: { ...labels, role: told } } };
}

function withoutElection(mysql: JsonObject, { primary }: Context): JsonObject {
  const status = (mysql.status ?? {}) as JsonObject;
  const members = Array.isArray(status.members) ? status.members : [];
  const wish = at(mysql, 'spec', 'primary');
  const wished = wish === undefined || primary === `${textAt(mysql, 'metadata', 'name')}-${wish}`;
  return {
    ...mysql,
    status: {
      ...status,
      ...('primary' in status ? { primary: wished ? 'some member' : 'not the one of spec.primary' } : {}),
      ...('bootstrap' in status ? { bootstrap: 'recorded' } : {}),
      members: members.map((member) => {
        if (!isObject(member)) return member;
        const { role, ...rest } = member;
        const asItShould =
          (role === 'PRIMARY') === (member.name === primary) ? 'as the status says' : `wrong: ${role}`;
        return { ...rest, role: role === undefined ? 'none' : asItShould };
      }),
    },
  };
}

/** The first few differences, as `path: expected → found`. */
export function differences(expected: Json | undefined, found: Json | undefined, path = ''): string[] {
  if (isObject(expected) && isObject(found)) {
    return [...new Set([...Object.keys(expected), ...Object.keys(found)])].flatMap((key) =>
      differences(expected[key], found[key], path ? `${path}.${key}` : key),
    );
  }
  if (Array.isArray(expected) && Array.isArray(found)) {
    const length = Math.max(expected.length, found.length);
    return Array.from({ length }).flatMap((_, index) =>
      differences(expected[index], found[index], `${path}[${index}]`),
    );
  }
  return JSON.stringify(expected) === JSON.stringify(found)
    ? []
    : [`${path}: ${short(expected)} → ${short(found)}`];
}

const short = (value: Json | undefined): string => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 120 ? `${text.slice(0, 117)}…` : text;
};
