/** JSON Patch, JSON Merge Patch and strategic merge patch (the form that kubectl's client-side apply sends for built-in kinds). */
import fastJsonPatch, { type Operation } from 'fast-json-patch';
import { copy, isObject, type Json, type JsonObject, same } from './json.ts';
import { itemKey, type Shape } from './list-types.ts';
import { StatusError } from './status-error.ts';

/** Throws BadRequest or Invalid as the API server does. */
export function jsonPatch(live: JsonObject, operations: Json): JsonObject {
  if (!Array.isArray(operations))
    throw new StatusError('BadRequest', 'a JSON Patch must be a list of operations');
  try {
    const { newDocument } = fastJsonPatch.applyPatch(
      copy(live),
      operations as unknown as Operation[],
      true,
      true,
    );
    return newDocument;
  } catch (error) {
    const failedTest = error instanceof Error && error.name === 'TEST_OPERATION_FAILED';
    throw new StatusError(
      'Invalid',
      `the server rejected our request due to an error in our request${failedTest ? ': test failed' : ''}`,
    );
  }
}

/** RFC 7396: objects merge, null removes, everything else replaces. */
export function jsonMergePatch(live: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return copy(patch);
  const result: JsonObject = isObject(live) ? copy(live) : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = jsonMergePatch(result[key], value);
  }
  return result;
}

export function strategicMergePatch(live: JsonObject, patch: Json, shape: Shape): JsonObject {
  if (!isObject(patch)) throw new StatusError('BadRequest', 'a strategic merge patch must be an object');
  return mergedObject(live, patch, shape);
}

function mergedObject(live: JsonObject, patch: JsonObject, shape: Shape): JsonObject {
  const { $patch: directive, ...changes } = patch;
  const result: JsonObject = directive === 'replace' ? {} : copy(live);
  for (const [key, value] of Object.entries(changes)) {
    if (key.startsWith('$setElementOrder/') || key.startsWith('$retainKeys')) continue;
    if (key.startsWith('$deleteFromPrimitiveList/')) {
      const name = key.slice('$deleteFromPrimitiveList/'.length);
      const list = result[name];
      const gone = Array.isArray(value) ? value : [];
      if (Array.isArray(list)) result[name] = list.filter((item) => !gone.some((one) => same(one, item)));
    } else if (value === null) {
      delete result[key];
    } else {
      result[key] = mergedValue(result[key], value, shape.child(key));
    }
  }
  return result;
}

function mergedValue(live: Json | undefined, patch: Json, shape: Shape): Json {
  if (isObject(patch))
    return isObject(live) ? mergedObject(live, patch, shape) : mergedObject({}, patch, shape);
  const { list } = shape;
  if (!Array.isArray(patch) || !Array.isArray(live)) return copy(patch);
  if (list.type === 'set') return [...live, ...patch.filter((item) => !live.some((one) => same(one, item)))];
  if (list.type !== 'map') return copy(patch);
  const result = [...live];
  for (const item of patch) {
    const index = result.findIndex((one) => itemKey(one, list.keys) === itemKey(item, list.keys));
    const found = result[index];
    if (isObject(item) && item.$patch === 'delete') {
      if (index !== -1) result.splice(index, 1);
    } else if (found !== undefined && isObject(found) && isObject(item)) {
      result[index] = mergedObject(found, item, shape.item());
    } else {
      result.push(copy(item));
    }
  }
  return result;
}
