/** What a failed call to a member means: for the pass (try again or not), and in words for a person. */
import { type Failure, Permanent, Retryable } from '../errors.ts';

/**
 * Errors of the server that trying again does not mend (MySQL manual, server error reference): syntax, access denied, unknown
 * variable, wrong value, a password for replication of more than 32 characters.
 */
const PERMANENT: ReadonlySet<number> = new Set([1064, 1142, 1193, 1227, 1231, 3056]);

/** The server's own error number; undefined when the trouble is the connection's. */
export const serverError = (error: unknown): number | undefined =>
  // the operating system's numbers are negative
  error instanceof Error && 'errno' in error && Number(error.errno) > 0 ? Number(error.errno) : undefined;

export function toFailure(member: string, error: unknown): Failure {
  if (error instanceof Retryable || error instanceof Permanent) return error;
  const text = `${member}: ${error instanceof Error ? error.message : String(error)}`;
  const code = serverError(error);
  if (code === undefined) return new Retryable(text, { cause: error });
  return new (PERMANENT.has(code) ? Permanent : Retryable)(text, { cause: error, code });
}

/** Why a member did not report. */
export function whySilent(error: unknown): string {
  if (!(error instanceof Error)) return 'does not answer';
  switch ('code' in error ? error.code : undefined) {
    case 'ECONNREFUSED':
      return 'does not listen yet';
    case 'ER_ACCESS_DENIED_ERROR':
      return 'refuses the operator’s password';
    default:
      return `does not answer (${error.message})`;
  }
}
