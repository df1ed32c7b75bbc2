/** `x-kubernetes-validations`: CEL rules, with Kubernetes' quantities as far as CRDs use them. */
import { type CelInput, CelScalar, celEnv, celFunc, celMethod, isCelError, parse, plan } from '@bufbuild/cel';
import { quantity } from '../../desired/quantity.ts';
import { isObject, type Json, typeOf } from './json.ts';
import { propertyOf, type Rule, type Schema } from './schema.ts';
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
  const own = (schema['x-kubernetes-validations'] ?? []).flatMap((rule): Fault[] => {
    const transition = /\boldSelf\b/.test(rule.rule);
    if (transition && before === undefined) return [];
    const variables = {
      self: toCel(value),
      ...(transition && before !== undefined ? { oldSelf: toCel(before) } : {}),
    };
    const result = compiled(rule.rule)(variables);
    if (result === true) return [];
    const why = isCelError(result) ? `rule evaluation error: ${result.message}` : messageOf(rule, variables);
    const { reason = 'FieldValueInvalid' } = rule;
    const message =
      reason === 'FieldValueForbidden' ? `Forbidden: ${why}` : `Invalid value: "${typeOf(value)}": ${why}`;
    return [{ field: path || '<nil>', reason, message }];
  });
  return [...own, ...childFaults(schema, value, before, path)];
}

function messageOf({ rule, message, messageExpression }: Rule, variables: Record<string, CelInput>): string {
  const said = messageExpression === undefined ? undefined : compiled(messageExpression)(variables);
  // an expression that fails says nothing, as in Kubernetes
  return typeof said === 'string' ? said : (message ?? `failed rule: ${rule}`);
}

function childFaults(schema: Schema, value: Json, before: Json | undefined, path: string): Fault[] {
  const { items, properties } = schema;
  if (Array.isArray(value) && items) {
    return value.flatMap((item, index) => celFaults(items, item, undefined, `${path}[${index}]`));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, child]) => {
    const property = propertyOf(schema, key);
    if (!property) return [];
    const within = properties?.[key] ? (path ? `${path}.${key}` : key) : `${path}[${key}]`;
    return celFaults(property, child, isObject(before) ? before[key] : undefined, within);
  });
}

function toCel(value: Json): CelInput {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(toCel);
  if (isObject(value)) return new Map(Object.entries(value).map(([key, child]) => [key, toCel(child)]));
  return value;
}
