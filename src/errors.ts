/**
 * The two ways in which a call to the cluster or to a member can fail. One function (src/server/outcome.ts) maps them to an
 * HTTP answer, one (src/report) to a condition.
 */

interface Details {
  readonly cause?: unknown;
  /** HTTP status or MySQL error number, for logs and tests. */
  readonly code?: number;
}

/** Trying again, later or at once, may succeed: conflicts, timeouts, overload, broken connections. */
export class Retryable extends Error {
  override readonly name = 'Retryable';
  readonly code: number | undefined;
  constructor(message: string, { cause, code }: Details = {}) {
    super(message, { cause });
    this.code = code;
  }
}

/** The same call will fail the same way until somebody changes something: refused by validation, RBAC, quota, admission. */
export class Permanent extends Error {
  override readonly name = 'Permanent';
  readonly code: number | undefined;
  constructor(message: string, { cause, code }: Details = {}) {
    super(message, { cause });
    this.code = code;
  }
}

export type Failure = Retryable | Permanent;
