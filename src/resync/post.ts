/** Posts one event to the function, and tries again when it is asked to. */
import { randomUUID } from 'node:crypto';
import * as http from 'node:http';
import * as https from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { RESYNC } from '../event/concern.ts';
import { type MysqlRef, refKey } from '../resource/names.ts';

export interface PostOptions {
  readonly sink: URL;
  readonly extensions: Readonly<Record<string, string>>;
  readonly clock: () => Date;
}

/** Undefined when the event was taken, otherwise why not; never throws. */
export type Post = (ref: MysqlRef, signal: AbortSignal) => Promise<string | undefined>;

const TRIES = 3;
/** Covers a cold start and the reply budget; the function answers within 2 s when it is up. */
const ANSWER_DEADLINE_MS = 15_000;
const DEFAULT_PAUSE_MS = 1_000;
/** The function says 503 only; proxies on the way have more words for "later". */
const MAY_PASS: ReadonlySet<number> = new Set([404, 408, 425, 429, 502, 503, 504]);

export function poster({ sink, extensions, clock }: PostOptions): Post {
  const { Agent, request } = sink.protocol === 'https:' ? https : http;
  const agent = new Agent({ keepAlive: true });

  return async (ref, signal) => {
    const headers = {
      ...Object.fromEntries(Object.entries(extensions).map(([name, value]) => [`ce-${name}`, value])),
      'ce-specversion': '1.0',
      // the same over the tries: it is one event
      'ce-id': randomUUID(),
      'ce-source': 'mysql-operator/resync',
      'ce-type': RESYNC,
      'ce-subject': refKey(ref),
      'ce-time': clock().toISOString(),
      'content-length': '0',
    };
    for (let tried = 1; ; tried += 1) {
      let why: string;
      let wait = DEFAULT_PAUSE_MS;
      try {
        const { status, retryAfter } = await once(headers, signal);
        if (status >= 200 && status < 300) return undefined;
        why = `the answer was ${status}`;
        if (!MAY_PASS.has(status)) return why;
        if (retryAfter > 0) wait = retryAfter * 1_000;
      } catch (error) {
        why = error instanceof Error ? error.message : String(error);
      }
      if (tried === TRIES || signal.aborted) return why;
      await pause(wait, undefined, { signal }).catch(() => undefined);
    }
  };

  function once(headers: http.OutgoingHttpHeaders, signal: AbortSignal) {
    return new Promise<{ status: number; retryAfter: number }>((resolve, reject) => {
      const options = { method: 'POST', agent, headers, signal, timeout: ANSWER_DEADLINE_MS };
      const sent = request(sink, options, (response) => {
        const status = response.statusCode ?? 0;
        const retryAfter = Number(response.headers['retry-after'] ?? 0);
        response.resume().on('end', () => resolve({ status, retryAfter }));
        response.on('error', reject);
      });
      sent.on('timeout', () => sent.destroy(new Error(`no answer within ${ANSWER_DEADLINE_MS / 1_000} s`)));
      sent.on('error', reject);
      sent.end();
    });
  }
}
