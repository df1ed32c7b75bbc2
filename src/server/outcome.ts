/**
 * What is answered to an event. The adapter tries 503 again (6 times in about 3 s) and drops 400 at once; it would drop a 500 or 409 at
 * once too, so these are never sent. Never a body: behind a Broker a body that is no CloudEvent is a failure.
 */
export type Outcome =
  /** A pass that began after the event has ended well, there is nothing to do, or it goes on past the reply budget. */
  | 'done'
  /** It could not be finished: the sender should try again. */
  | 'retry'
  /** This request will never be taken. */
  | 'malformed';

export const STATUS: Readonly<Record<Outcome, number>> = {
  done: 204,
  retry: 503,
  malformed: 400,
};

/** Seconds, for senders that honour it (the resync does, the adapter does not). */
export const RETRY_AFTER = 1;
