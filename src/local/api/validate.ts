/** What is wrong with a custom resource by its schema, in Kubernetes' own words: users see them. */
import { celFaults } from './cel.ts';
import { isObject, type Json, type JsonObject, same, typeOf } from './json.ts';
import { itemKey } from './list-types.ts';
import { propertyOf, type Schema } from './schema.ts';
import type { Fault } from './status-error.ts';

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
  'FieldValueTooLong',
  'FieldValueTooMany',
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
const should = (path: string, value: Json, what: string): Fault =>
  fault(path, 'FieldValueInvalid', `Invalid value: ${shown(value)}: ${path} in body should ${what}`);

function check(schema: Schema, value: Json, path: string): Fault[] {
  if (value === null && schema.nullable) return [];
  const wrongType = checkType(schema, value, path);
  if (wrongType) return [wrongType];
  return [
    ...checkEnum(schema, value, path),
    ...(typeof value === 'number' ? checkNumber(schema, value, path) : []),
    ...(typeof value === 'string' ? checkText(schema, value, path) : []),
    ...(Array.isArray(value) ? checkList(schema, value, path) : []),
    ...(isObject(value) ? checkObject(schema, value, path) : []),
  ];
}

function checkType(schema: Schema, value: Json, path: string): Fault | undefined {
  const type = typeOf(value);
  const wanted = schema['x-kubernetes-int-or-string'] ? 'integer,string' : schema.type;
  if (wanted === undefined || wanted.split(',').includes(type)) return undefined;
  if (wanted === 'number' && type === 'integer') return undefined;
  const message = `Invalid value: "${type}": ${path} in body must be of type ${wanted}: "${type}"`;
  return fault(path, 'FieldValueTypeInvalid', message);
}

function checkEnum(schema: Schema, value: Json, path: string): Fault[] {
  if (!schema.enum || schema.enum.some((one) => same(one, value))) return [];
  const allowed = schema.enum.map(shown).join(', ');
  return [
    fault(path, 'FieldValueNotSupported', `Unsupported value: ${shown(value)}: supported values: ${allowed}`),
  ];
}

function checkNumber({ minimum, maximum }: Schema, value: number, path: string): Fault[] {
  return [
    ...(minimum !== undefined && value < minimum
      ? [should(path, value, `be greater than or equal to ${minimum}`)]
      : []),
    ...(maximum !== undefined && value > maximum
      ? [should(path, value, `be less than or equal to ${maximum}`)]
      : []),
  ];
}

function checkText(schema: Schema, value: string, path: string): Fault[] {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format } = schema;
  return [
    ...(value.length < minLength ? [should(path, value, `be at least ${minLength} chars long`)] : []),
    ...(value.length > maxLength
      ? [fault(path, 'FieldValueTooLong', `Too long: may not be more than ${maxLength} bytes`)]
      : []),
    ...(pattern !== undefined && !new RegExp(pattern).test(value)
      ? [should(path, value, `match '${pattern}'`)]
      : []),
    ...(format === 'date-time' && Number.isNaN(Date.parse(value))
      ? [should(path, value, 'be of type date-time')]
      : []),
  ];
}

function checkList(schema: Schema, value: readonly Json[], path: string): Fault[] {
  const { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  return [
    ...tooMany(value.length, maxItems, path),
    ...(value.length < minItems ? [should(path, [...value], `have at least ${minItems} items`)] : []),
    ...(items ? value.flatMap((item, index) => check(items, item, `${path}[${index}]`)) : []),
    ...duplicates(schema, value, path),
  ];
}

const tooMany = (count: number, most: number, path: string): Fault[] =>
  count > most
    ? [fault(path, 'FieldValueTooMany', `Too many: ${count}: must have at most ${most} items`)]
    : [];

/** Of sets the items, of maps their keys. */
function duplicates(schema: Schema, value: readonly Json[], path: string): Fault[] {
  const type = schema['x-kubernetes-list-type'] ?? 'atomic';
  if (type === 'atomic') return [];
  const keyOf = (item: Json) =>
    type === 'map' ? itemKey(item, schema['x-kubernetes-list-map-keys'] ?? []) : shown(item);
  const keys = value.map(keyOf);
  return keys.flatMap((key, index) =>
    keys.indexOf(key) < index
      ? [fault(`${path}[${index}]`, 'FieldValueDuplicate', `Duplicate value: ${key}`)]
      : [],
  );
}

function checkObject(schema: Schema, value: JsonObject, path: string): Fault[] {
  const within = (key: string) => (path ? `${path}.${key}` : key);
  const { required = [], maxProperties = Number.POSITIVE_INFINITY } = schema;
  return [
    ...required
      .filter((key) => value[key] === undefined)
      .map((key) => fault(within(key), 'FieldValueRequired', 'Required value')),
    ...tooMany(Object.keys(value).length, maxProperties, path),
    ...Object.entries(value).flatMap(([key, child]) => {
      // the API's own
      const property = path === '' && key === 'metadata' ? undefined : propertyOf(schema, key);
      return property ? check(property, child, within(key)) : [];
    }),
  ];
}

const shown = (value: Json): string => JSON.stringify(value);
