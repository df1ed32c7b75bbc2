/**
 * Structural schemas of custom resources: defaults and pruning; validate.ts has the checks. Small walkers of our own because the three
 * go hand in hand; CEL is a library (cel.ts).
 */
import { copy, isObject, type Json } from './json.ts';

/** One of `x-kubernetes-validations`. */
export interface Rule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden';
}

/** The subset of OpenAPI v3 that structural schemas may use. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: Json;
  readonly nullable?: boolean;
  readonly enum?: readonly Json[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

/**
 * Fills in defaults, in place, parents before children so that a default object gets its own defaults. A null that may not be one counts
 * as absent.
 */
export function applyDefaults(schema: Schema, value: Json): void {
  if (isObject(value)) {
    for (const [key, child] of Object.entries(value)) {
      const property = propertyOf(schema, key);
      if (property && child === null && !property.nullable) delete value[key];
    }
    for (const [key, property] of Object.entries(schema.properties ?? {})) {
      if (value[key] === undefined && property.default !== undefined) value[key] = copy(property.default);
    }
    for (const [key, child] of Object.entries(value)) {
      const property = propertyOf(schema, key);
      if (property) applyDefaults(property, child);
    }
  } else if (Array.isArray(value) && schema.items) {
    for (const item of value) applyDefaults(schema.items, item);
  }
}

/** Removes fields that the schema does not know, in place; returns their paths. Metadata is the API's own. */
export function prune(schema: Schema, value: Json, path = ''): string[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((item, index) => prune(items, item, `${path}[${index}]`)) : [];
  }
  if (!isObject(value)) return [];
  return Object.keys(value).flatMap((key) => {
    const here = path ? `${path}.${key}` : key;
    if (path === '' && (key === 'metadata' || key === 'apiVersion' || key === 'kind')) return [];
    const property = propertyOf(schema, key);
    const child = value[key];
    if (property && child !== undefined) return prune(property, child, here);
    if (property || schema['x-kubernetes-preserve-unknown-fields'] || schema.additionalProperties === true)
      return [];
    delete value[key];
    return [here];
  });
}

/** What the schema says of one field of an object. */
export const propertyOf = (schema: Schema, key: string): Schema | undefined =>
  schema.properties?.[key] ??
  (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
