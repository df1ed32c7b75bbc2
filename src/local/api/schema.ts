/**
 * Structural schemas of custom resources: defaults, pruning, validation, in Kubernetes' own words. A small walker of its own because
 * these three go hand in hand and the wording is part of what users see; CEL is a library (cel.ts).
 */
import { celFaults } from './cel.ts';
import { copy, isObject, type Json, type JsonObject } from './json.ts';
import type { Fault } from './status-error.ts';

/** The subset of OpenAPI v3 that structural schemas may use. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: Json;
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
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message?: string }[];
}

/** Fills in defaults, in place, parents before children so that a default object gets its own defaults. */
export function applyDefaults(schema: Schema, value: Json): void {
  if (isObject(value)) {
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

const propertyOf = (schema: Schema, key: string): Schema | undefined =>
  schema.properties?.[key] ??
  (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);

/** Everything that is wrong. CEL rules are only asked when the rest is right, as in Kubernetes. */
export function validate(schema: Schema, value: Json, before: Json | undefined): Fault[] {
  const faults = check(schema, value, '');
  if (faults.length === 0) return celFaults(schema, value, before, '');
  return faults.some(({ reason }) => BLOCKING.has(reason)) ? [...faults, UNCHECKED] : faults;
}

/** Faults after which Kubernetes says that it did not go on to the rules. */
const BLOCKING: ReadonlySet<Fault['reason']> = new Set([
  'FieldValueRequired',
  'FieldValueNotSupported',
  'FieldValueTypeInvalid',
]);
const UNCHECKED: Fault = {
  field: '<nil>',
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

const fault = (field: string, reason: Fault['reason'], message: string): Fault => ({
  field: field || '<nil>',
  reason,
  message,
});

function check(schema: Schema, value: Json, path: string): Fault[] {
  const typeFault = checkType(schema, value, path);
  if (typeFault) return [typeFault];
  const faults: Fault[] = [];
  const bad = (why: string) =>
    faults.push(
      fault(path, 'FieldValueInvalid', `Invalid value: ${shown(value)}: ${path} in body should ${why}`),
    );
  if (schema.enum && !schema.enum.includes(value)) {
    const allowed = schema.enum.map((one) => JSON.stringify(one)).join(', ');
    faults.push(
      fault(
        path,
        'FieldValueNotSupported',
        `Unsupported value: ${shown(value)}: supported values: ${allowed}`,
      ),
    );
  }
  if (typeof value === 'number') {
    if (schema.minimum !== undefined && value < schema.minimum)
      bad(`be greater than or equal to ${schema.minimum}`);
    if (schema.maximum !== undefined && value > schema.maximum)
      bad(`be less than or equal to ${schema.maximum}`);
  }
  if (typeof value === 'string') {
    if (schema.minLength !== undefined && value.length < schema.minLength)
      bad(`be at least ${schema.minLength} chars long`);
    if (schema.maxLength !== undefined && value.length > schema.maxLength) {
      faults.push(
        fault(path, 'FieldValueInvalid', `Too long: may not be more than ${schema.maxLength} bytes`),
      );
    }
    if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value))
      bad(`match '${schema.pattern}'`);
    if (schema.format === 'date-time' && Number.isNaN(Date.parse(value))) bad('be of type date-time');
  }
  if (Array.isArray(value)) {
    if (schema.maxItems !== undefined && value.length > schema.maxItems)
      bad(`have at most ${schema.maxItems} items`);
    if (schema.minItems !== undefined && value.length < schema.minItems)
      bad(`have at least ${schema.minItems} items`);
    const { items } = schema;
    if (items) faults.push(...value.flatMap((item, index) => check(items, item, `${path}[${index}]`)));
  }
  if (isObject(value)) faults.push(...checkObject(schema, value, path));
  return faults;
}

function checkObject(schema: Schema, value: JsonObject, path: string): Fault[] {
  const within = (key: string) => (path ? `${path}.${key}` : key);
  const missing = (schema.required ?? [])
    .filter((key) => value[key] === undefined)
    .map((key) => fault(within(key), 'FieldValueRequired', 'Required value'));
  const count = Object.keys(value).length;
  const tooMany =
    schema.maxProperties !== undefined && count > schema.maxProperties
      ? [
          fault(
            path,
            'FieldValueInvalid',
            `Too many: ${count}: must have at most ${schema.maxProperties} items`,
          ),
        ]
      : [];
  const children = Object.entries(value).flatMap(([key, child]) => {
    const property = path === '' && key === 'metadata' ? undefined : propertyOf(schema, key);
    return property ? check(property, child, within(key)) : [];
  });
  return [...missing, ...tooMany, ...children];
}

function checkType(schema: Schema, value: Json, path: string): Fault | undefined {
  const type = typeOf(value);
  if (schema['x-kubernetes-int-or-string']) {
    return type === 'integer' || type === 'string' ? undefined : mismatch(path, value, 'integer,string');
  }
  if (schema.type === undefined) return undefined;
  const fits = schema.type === type || (schema.type === 'number' && type === 'integer');
  return fits ? undefined : mismatch(path, value, schema.type);
}

const mismatch = (path: string, value: Json, wanted: string): Fault =>
  fault(
    path,
    'FieldValueTypeInvalid',
    `Invalid value: ${shown(typeOf(value))}: ${path} in body must be of type ${wanted}: ${shown(typeOf(value))}`,
  );

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

const shown = (value: Json): string => JSON.stringify(value);
