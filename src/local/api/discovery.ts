/** What kubectl asks before it does anything: groups, versions, resources. */
import type { JsonObject } from './json.ts';
import { apiVersionOf, type Kind } from './kinds.ts';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

export const version = (): JsonObject => ({
  major: '1',
  minor: '34',
  gitVersion: 'v1.34.0-embedded',
  platform: `${process.platform}/${process.arch}`,
});

export const coreVersions = (): JsonObject => ({ kind: 'APIVersions', versions: ['v1'] });

export function groupList(kinds: readonly Kind[]): JsonObject {
  const groups = Map.groupBy(
    kinds.filter((kind) => kind.group),
    (kind) => kind.group,
  );
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: [...groups.values()].map(groupOf) };
}

/** Undefined for a group that is not served. */
export function group(kinds: readonly Kind[], name: string): JsonObject | undefined {
  const own = kinds.filter((kind) => kind.group === name);
  return own.length > 0 ? { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(own) } : undefined;
}

function groupOf(kinds: readonly Kind[]): JsonObject {
  const versions = [...new Set(kinds.map((kind) => kind.version))].map((one) => ({
    groupVersion: `${kinds[0]?.group}/${one}`,
    version: one,
  }));
  return { name: kinds[0]?.group ?? '', versions, preferredVersion: versions[0] ?? {} };
}

/** Undefined for a version that is not served. */
export function resourceList(kinds: readonly Kind[], apiVersion: string): JsonObject | undefined {
  const own = kinds.filter((kind) => apiVersionOf(kind) === apiVersion);
  if (own.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersion,
    resources: own.flatMap(resourcesOf),
  };
}

function resourcesOf(kind: Kind): JsonObject[] {
  const main: JsonObject = {
    name: kind.plural,
    singularName: kind.singular,
    namespaced: kind.namespaced,
    kind: kind.kind,
    verbs: VERBS,
    shortNames: [...kind.shortNames],
    categories: [...kind.categories],
  };
  const sub = (name: string, extras: JsonObject): JsonObject => ({
    name: `${kind.plural}/${name}`,
    singularName: '',
    namespaced: kind.namespaced,
    kind: kind.kind,
    verbs: ['get', 'patch', 'update'],
    ...extras,
  });
  return [
    main,
    ...(kind.status ? [sub('status', {})] : []),
    ...(kind.scale ? [sub('scale', { group: 'autoscaling', version: 'v1', kind: 'Scale' })] : []),
    ...(kind.kind === 'Pod' ? [sub('log', { verbs: ['get'] })] : []),
  ];
}
