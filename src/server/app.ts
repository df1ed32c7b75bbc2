/** HTTP: one CloudEvent in, one outcome out as a status code without a body. */
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import type { Logger } from 'pino';
import { concernOf } from '../event/concern.ts';
import { Malformed, parseEvent } from '../event/parse.ts';
import { type Outcome, RETRY_AFTER, STATUS } from './outcome.ts';
import type { Queue } from './queue.ts';
import { type Later, later as onTheClock } from './timer.ts';

export interface AppOptions {
  readonly queue: Queue;
  readonly log: Logger;
  /** Milliseconds after which a pass that still runs is answered with 204: delivery is serial, a slow answer delays everybody. */
  readonly replyBudget: number;
  readonly later?: Later;
}

/** The API server takes objects of up to 1.5 MiB (etcd's request limit); in Resource mode the adapter sends them whole, as JSON. */
const BODY_LIMIT = '3mb';

export function createApp({ queue, log, replyBudget, later = onTheClock }: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');

  // the readiness probe, and the activator's own probe before the first event
  app.get(['/healthz', '/'], (_request, response) => void response.status(200).end());

  app.post('/{*any}', express.raw({ type: () => true, limit: BODY_LIMIT }), async (request, response) => {
    answer(response, await outcomeOf(request));
  });
  app.use(
    (_request: Request, response: Response) => void response.status(405).set('Allow', 'GET, POST').end(),
  );
  app.use(refuse(log));
  return app;

  async function outcomeOf(request: Request): Promise<Outcome> {
    const hint = parseEvent(request.headers, Buffer.isBuffer(request.body) ? request.body.toString() : '');
    const concern = concernOf(hint);
    if (concern.is === 'malformed') throw new Malformed(concern.why);
    if (concern.is === 'nobody') {
      log.debug({ why: concern.why }, 'event ignored');
      return 'done';
    }
    return withinBudget(
      queue.hint(concern.ref, concern.trigger).then(
        (pass): Outcome => (pass.failure?.name === 'Retryable' ? 'retry' : 'done'),
        (): Outcome => 'retry',
      ),
      (spent) => later(replyBudget, spent),
    );
  }
}

function answer(response: Response, outcome: Outcome): void {
  if (outcome === 'retry') response.set('Retry-After', `${RETRY_AFTER}`);
  response.status(STATUS[outcome]).end();
}

/** The pass goes on after the answer; a drain waits for it. */
async function withinBudget(
  outcome: Promise<Outcome>,
  whenSpent: (spent: () => void) => () => void,
): Promise<Outcome> {
  const spent = Promise.withResolvers<Outcome>();
  const callOff = whenSpent(() => spent.resolve('done'));
  try {
    return await Promise.race([outcome, spent.promise]);
  } finally {
    callOff();
  }
}

/** What the sender did wrong is 400, 413 included (the adapter would try a 413 again); what we did wrong is 503, never 500. */
const refuse =
  (log: Logger): ErrorRequestHandler =>
  (error: unknown, request, response, _next) => {
    const status = typeof error === 'object' && error && 'status' in error ? Number(error.status) : 0;
    if (error instanceof Malformed || (status >= 400 && status < 500)) {
      log.warn(
        { why: error instanceof Error ? error.message : String(error), path: request.path },
        'request refused',
      );
      answer(response, 'malformed');
    } else {
      log.error({ err: error }, 'unexpected');
      answer(response, 'retry');
    }
  };
