/** What controllers ask of objects. */
import { at, isObject, type Json, type JsonObject, textAt } from '../api/json.ts';

export const nameOf = (object: JsonObject): string => textAt(object, 'metadata', 'name') ?? '';
export const namespaceOf = (object: JsonObject): string => textAt(object, 'metadata', 'namespace') ?? '';
export const uidOf = (object: JsonObject): string => textAt(object, 'metadata', 'uid') ?? '';
export const isLeaving = (object: JsonObject): boolean =>
  at(object, 'metadata', 'deletionTimestamp') !== undefined;

/** The objects of a list; none where there is no list. */
export function objectsAt(value: Json | undefined, ...path: readonly string[]): JsonObject[] {
  const list = at(value, ...path);
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** The texts of a list; none where there is no list. */
export function textsAt(value: Json | undefined, ...path: readonly string[]): string[] {
  const list = at(value, ...path);
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}

export const conditionOf = (object: JsonObject, type: string): JsonObject | undefined =>
  objectsAt(object, 'status', 'conditions').find((condition) => condition.type === type);

export const isReady = (pod: JsonObject): boolean => conditionOf(pod, 'Ready')?.status === 'True';

/** As Kubernetes writes times: without fractions. */
export const timestamp = (date: Date): string => date.toISOString().replace(/\.\d+Z$/, 'Z');
