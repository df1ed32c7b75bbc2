/** `x-kubernetes-validations`: CEL rules, with Kubernetes' quantities as far as CRDs use them. */
import { type CelInput, CelScalar, celEnv, celFunc, celMethod, isCelError, parse, plan } from '@bufbuild/cel';
import { quantity } from '../../desired/quantity.ts';
import { isObject, type Json } from './json.ts';
import type { Schema } from './schema.ts';
import type { Fault } from './status-error.ts';

/** A quantity is a double here: comparing is all that rules do with it. */
const env = celEnv({
  funcs: [
    celFunc('quantity', [CelScalar.STRING], CelScalar.DOUBLE, (text) => {
      const value = quantity(text);
      if (value === undefined) throw new Error(`${JSON.stringify(text)} is no quantity`);
      return value;
    }),
    celFunc('isQuantity', [CelScalar.STRING], CelScalar.BOOL, (text) => quantity(text) !== undefined),
    celMethod('compareTo', CelScalar.DOUBLE, [CelScalar.DOUBLE], CelScalar.INT, function (other) {
      return this < other ? -1n : this > other ? 1n : 0n;
    }),
  ],
});

type Program = (variables: Record<string, CelInput>) => unknown;
/** Compiled rules by their text: a CRD has few, and objects are many. */
const programs = new Map<string, Program>();

function compiled(rule: string): Program {
  const known = programs.get(rule);
  if (known) return known;
  const program = plan(env, parse(rule)) as Program;
  programs.set(rule, program);
  return program;
}

/** Rules that mention oldSelf are asked only when there is an old value, as Kubernetes does. */
export function celFaults(schema: Schema, value: Json, before: Json | undefined, path: string): Fault[] {
  const own = (schema['x-kubernetes-validations'] ?? []).flatMap(({ rule, message }): Fault[] => {
    const transition = /\boldSelf\b/.test(rule);
    if (transition && before === undefined) return [];
    const result = compiled(rule)({
      self: toCel(value),
      ...(transition && before !== undefined ? { oldSelf: toCel(before) } : {}),
    });
    if (result === true) return [];
    const why = isCelError(result)
      ? `rule evaluation error: ${result.message}`
      : (message ?? `failed rule: ${rule}`);
    const shown =
      isObject(value) || Array.isArray(value)
        ? Array.isArray(value)
          ? '"array"'
          : '"object"'
        : JSON.stringify(value);
    return [
      { field: path || '<nil>', reason: 'FieldValueInvalid', message: `Invalid value: ${shown}: ${why}` },
    ];
  });
  return [...own, ...childFaults(schema, value, before, path)];
}

function childFaults(schema: Schema, value: Json, before: Json | undefined, path: string): Fault[] {
  if (!isObject(value)) return [];
  return Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
    const child = value[key];
    if (child === undefined) return [];
    return celFaults(
      property,
      child,
      isObject(before) ? before[key] : undefined,
      path ? `${path}.${key}` : key,
    );
  });
}

function toCel(value: Json): CelInput {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(toCel);
  if (isObject(value)) return new Map(Object.entries(value).map(([key, child]) => [key, toCel(child)]));
  return value;
}
