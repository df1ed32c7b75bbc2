/** The scale subresource: replicas of anything that has them, under one form. */
import { at, copy, isObject, type Json, type JsonObject, metadataOf, textAt } from './json.ts';
import type { Kind } from './kinds.ts';
import { StatusError } from './status-error.ts';

const keysOf = (path: string): string[] => path.split('.').filter((key) => key !== '');

export function toScale(kind: Kind, object: JsonObject): JsonObject {
  const { scale } = kind;
  if (!scale) throw new StatusError('NotFound', 'the server could not find the requested resource');
  const selector = scale.selector ? selectorText(at(object, ...keysOf(scale.selector))) : undefined;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata as JsonObject;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp } as JsonObject,
    spec: { replicas: at(object, ...keysOf(scale.specReplicas)) ?? 0 },
    status: { replicas: at(object, ...keysOf(scale.statusReplicas)) ?? 0, ...(selector ? { selector } : {}) },
  };
}

/** Custom resources hold the text itself, built-in kinds a LabelSelector. */
function selectorText(selector: Json | undefined): string | undefined {
  if (typeof selector === 'string') return selector;
  const labels = at(selector, 'matchLabels');
  if (!isObject(labels)) return undefined;
  return Object.keys(labels)
    .sort()
    .map((name) => `${name}=${String(labels[name])}`)
    .join();
}

/** The object with the replicas of a Scale, and its version where it names one. Throws BadRequest. */
export function withScale(kind: Kind, object: JsonObject, scale: JsonObject): JsonObject {
  const replicas = at(scale, 'spec', 'replicas') ?? 0;
  if (typeof replicas !== 'number') throw new StatusError('BadRequest', 'spec.replicas must be a number');
  const result = copy(object);
  const version = textAt(scale, 'metadata', 'resourceVersion');
  if (version) metadataOf(result).resourceVersion = version;
  const path = keysOf(kind.scale?.specReplicas ?? '');
  const last = path.pop() ?? '';
  const parent = path.reduce<JsonObject>((node, key) => {
    const child = node[key];
    const next: JsonObject = isObject(child) ? child : {};
    node[key] = next;
    return next;
  }, result);
  parent[last] = replicas;
  return result;
}
