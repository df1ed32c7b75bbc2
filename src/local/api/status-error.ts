/** A refusal as Kubernetes words it: code, reason, message, details. */
import type { Json, JsonObject } from './json.ts';

export type Reason =
  | 'BadRequest'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Invalid'
  | 'Expired'
  | 'Forbidden'
  | 'MethodNotAllowed'
  | 'UnsupportedMediaType'
  | 'InternalError'
  | 'NotImplemented';

const CODES: Readonly<Record<Reason, number>> = {
  BadRequest: 400,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  UnsupportedMediaType: 415,
  Invalid: 422,
  InternalError: 500,
  NotImplemented: 501,
};

export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly reason: Reason;
  readonly details: JsonObject;

  constructor(reason: Reason, message: string, details: JsonObject = {}) {
    super(message);
    this.reason = reason;
    this.details = details;
  }

  get code(): number {
    return CODES[this.reason];
  }

  /** The `Status` object that goes over the wire. */
  toJson(): JsonObject {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      reason: this.reason,
      details: this.details,
      code: this.code,
    };
  }
}

/** What one field has against it. */
export interface Fault {
  readonly field: string;
  readonly message: string;
  readonly reason:
    | 'FieldValueInvalid'
    | 'FieldValueRequired'
    | 'FieldValueNotSupported'
    | 'FieldValueTypeInvalid'
    | 'FieldValueForbidden';
}

export function invalid(kind: string, group: string, name: string, faults: readonly Fault[]): StatusError {
  const list = faults.map(({ field, message }) => `${field}: ${message}`);
  const causes: Json = faults.map(({ field, message, reason }) => ({ reason, message, field }));
  const what = group ? `${kind}.${group}` : kind;
  const text = list.length === 1 ? list[0] : `[${list.join(', ')}]`;
  return new StatusError('Invalid', `${what} "${name}" is invalid: ${text}`, { name, group, kind, causes });
}

export const notFound = (plural: string, group: string, name: string): StatusError =>
  new StatusError('NotFound', `${group ? `${plural}.${group}` : plural} "${name}" not found`, {
    name,
    group,
    kind: plural,
  });

export const conflict = (plural: string, group: string, name: string, why: string): StatusError =>
  new StatusError(
    'Conflict',
    `Operation cannot be fulfilled on ${group ? `${plural}.${group}` : plural} "${name}": ${why}`,
    {
      name,
      group,
      kind: plural,
    },
  );
