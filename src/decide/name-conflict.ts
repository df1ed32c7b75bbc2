import { isOurs } from '../desired/owner.ts';
import type { KubernetesObject } from '../kubernetes/cluster.ts';
import type { Observed } from '../observe/observed.ts';
import { API_VERSION, KIND } from '../resource/names.ts';
import type { Rule } from './conclusion.ts';

/**
 * An object with a name that we need belongs to somebody else: it is never taken over, and nothing disruptive happens meanwhile. When
 * it is one that the members themselves depend on, nothing at all is done: somebody else's pods, passwords or addresses are not ours
 * to work with.
 */
export const nameConflict: Rule = ({ observed }) => {
  const foreign = foreignChildren(observed);
  if (foreign.length === 0) return undefined;
  const leftOver = foreign.every((object) => isOfEarlierMysql(object, observed));
  return {
    state: 'NameConflict',
    message: leftOver
      ? `${list(foreign)} still belongs to a deleted Mysql of this name: waiting for garbage collection.`
      : `${list(foreign)} belongs to somebody else and is not taken over: remove it, or create this Mysql under another name.`,
    transitional: leftOver,
    ...(dependsOnForeign(observed) ? { duties: 'none' as const } : {}),
  };
};

export const foreignChildren = ({ mysql, children }: Observed): readonly KubernetesObject[] =>
  Object.values(children).filter((child) => child !== undefined && !isOurs(mysql, child));

const dependsOnForeign = ({ mysql, children }: Observed): boolean =>
  [children.statefulSet, children.secret, children.nodesService].some(
    (child) => child !== undefined && !isOurs(mysql, child),
  );

const isOfEarlierMysql = (object: KubernetesObject, { mysql }: Observed): boolean =>
  object.metadata?.ownerReferences?.some(
    (owner) => owner.apiVersion === API_VERSION && owner.kind === KIND && owner.name === mysql.metadata.name,
  ) ?? false;

const list = (objects: readonly KubernetesObject[]): string =>
  objects.map((object) => `${object.kind} ${object.metadata?.name}`).join(', ');
