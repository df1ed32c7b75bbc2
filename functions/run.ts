/** Runs an entry point: what a person can mend is told in one sentence, what only we can mend with its stack. */
import { InvalidConfig } from '../src/config.ts';
import { Permanent, Retryable } from '../src/errors.ts';

/** Exit code 2: wrong usage; 1: anything else that failed. */
export function run(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    const known = error instanceof InvalidConfig || error instanceof Permanent || error instanceof Retryable;
    console.error(known ? error.message : error);
    process.exit(error instanceof InvalidConfig ? 2 : 1);
  });
}
