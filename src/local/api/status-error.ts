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
  | 'NotImplemented'
  /** Kubernetes gives no reason. */
  | 'Unknown';

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
  Unknown: 500,
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
      ...(this.reason === 'Unknown' ? {} : { reason: this.reason }),
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
    | 'FieldValueForbidden'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldValueDuplicate';
}

export function invalid(kind: string, group: string, name: string, faults: readonly Fault[]): StatusError {
  const list = faults.map(({ field, message }) => `${field}: ${message}`);
  const causes: Json = faults.map(({ field, message, reason }) => ({ reason, message, field }));
  const what = group ? `${kind}.${group}` : kind;
  const text = list.length === 1 ? list[0] : `[${list.join(', ')}]`;
  return new StatusError('Invalid', `${what} "${name}" is invalid: ${text}`, { name, group, kind, causes });
}

/** `mysqls.example.com "name"`, and the same for `details`. */
const named = (plural: string, group: string, name: string) => ({
  text: `${group ? `${plural}.${group}` : plural} "${name}"`,
  details: { name, ...(group ? { group } : {}), kind: plural },
});

export function notFound(plural: string, group: string, name: string): StatusError {
  const { text, details } = named(plural, group, name);
  return new StatusError('NotFound', `${text} not found`, details);
}

export function alreadyExists(plural: string, group: string, name: string): StatusError {
  const { text, details } = named(plural, group, name);
  return new StatusError('AlreadyExists', `${text} already exists`, details);
}

export function conflict(plural: string, group: string, name: string, why: string): StatusError {
  const { text, details } = named(plural, group, name);
  return new StatusError('Conflict', `Operation cannot be fulfilled on ${text}: ${why}`, details);
}
