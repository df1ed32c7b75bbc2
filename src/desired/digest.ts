/**
 * Whether a live object is as desired, without writing. Two questions: was this very intent the last one applied (a digest in an
 * annotation, so that a field we no longer want is noticed), and does the live object still hold it (somebody may have edited it)?
 */
import { createHash } from 'node:crypto';
import type { KubernetesObject } from '../kubernetes/cluster.ts';
import { ANNOTATION } from '../resource/names.ts';
import { quantity } from './quantity.ts';

/** Short and stable: object keys are sorted, arrays keep their order. */
export const digest = (value: unknown): string =>
  createHash('sha256').update(canonical(value)).digest('hex').slice(0, 16);

/** The object with the digest of itself in its annotations. */
export function withDigest<T extends KubernetesObject>(object: T): T {
  const annotations = { ...object.metadata?.annotations, [ANNOTATION.applied]: digest(object) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/**
 * Whether every field of `wanted` is in `live`. What else is there (defaults of the API server, what others added) does not count:
 * server-side apply would not take it away either. Lists are compared as it merges them: of objects that have names each is looked
 * up by its name; any other list is a value as a whole. Quantities are equal by value.
 */
export function isHeldBy(wanted: unknown, live: unknown): boolean {
  if (wanted === undefined || wanted === null) return true;
  if (Array.isArray(wanted)) return Array.isArray(live) && listIsHeldBy(wanted, live);
  if (isRecord(wanted)) {
    // The API server drops empty maps here and there: an empty one asks for nothing.
    if (Object.keys(wanted).length === 0) return true;
    return isRecord(live) && Object.entries(wanted).every(([key, value]) => isHeldBy(value, live[key]));
  }
  return wanted === live || sameQuantity(wanted, live);
}

function listIsHeldBy(wanted: readonly unknown[], live: readonly unknown[]): boolean {
  return wanted.every(isNamed)
    ? wanted.every((item) =>
        live.some((one) => isNamed(one) && one.name === item.name && isHeldBy(item, one)),
      )
    : wanted.length === live.length && wanted.every((item, index) => isHeldBy(item, live[index]));
}

const isNamed = (value: unknown): value is { readonly name: unknown } => isRecord(value) && 'name' in value;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function sameQuantity(a: unknown, b: unknown): boolean {
  if (typeof a === typeof b && typeof a !== 'string') return false;
  if ((typeof a !== 'string' && typeof a !== 'number') || (typeof b !== 'string' && typeof b !== 'number'))
    return false;
  const value = quantity(a);
  return value !== undefined && value === quantity(b);
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`;
}
