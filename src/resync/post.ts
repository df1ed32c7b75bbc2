/** Posts one event to the function, and tries again when it is asked to. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { RESYNC } from '../event/concern.ts';
import { type MysqlRef, refKey } from '../resource/names.ts';

export interface PostOptions {
  readonly sink: URL;
  readonly extensions: Readonly<Record<string, string>>;
  readonly clock: () => Date;
}

const TRIES = 3;
/** Covers a cold start and the reply budget; the function answers within 2 s when it is up. */
const ANSWER_DEADLINE_MS = 15_000;
const DEFAULT_PAUSE_MS = 1_000;

/** Undefined when it was taken, otherwise why not. Never throws. */
export async function post(
  ref: MysqlRef,
  options: PostOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { sink, extensions, clock } = options;
  const headers = {
    ...Object.fromEntries(Object.entries(extensions).map(([name, value]) => [`ce-${name}`, value])),
    'ce-specversion': '1.0',
    // the same over the tries: it is one event
    'ce-id': randomUUID(),
    'ce-source': 'mysql-operator/resync',
    'ce-type': RESYNC,
    'ce-subject': refKey(ref),
    'ce-time': clock().toISOString(),
  };
  let why = '';
  for (let tried = 1; ; tried += 1) {
    let wait = DEFAULT_PAUSE_MS;
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_DEADLINE_MS)]);
      const response = await fetch(sink, { method: 'POST', headers, redirect: 'manual', signal: limit });
      await response.body?.cancel();
      if (response.ok) return undefined;
      why = `the answer was ${response.status}`;
      if (!MAY_PASS.has(response.status)) return why;
      wait = Number(response.headers.get('retry-after') ?? 1) * 1_000 || DEFAULT_PAUSE_MS;
    } catch (error) {
      why = reason(error);
    }
    if (tried === TRIES || signal.aborted) return why;
    await pause(wait, undefined, { signal }).catch(() => undefined);
  }
}

/** The function says 503 only; proxies on the way have more words for "later". */
const MAY_PASS: ReadonlySet<number> = new Set([404, 408, 425, 429, 502, 503, 504]);

/** fetch hides why in the cause. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || error.cause.name : error.message;
}
