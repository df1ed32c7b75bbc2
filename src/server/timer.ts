/** Runs something later and gives the way to call it off; tests bring their own time. */
export type Later = (ms: number, run: () => void) => () => void;

/** Keeps no process alive: what is only planned must not hold up an end. */
export const later: Later = (ms, run) => {
  const timer = setTimeout(run, ms).unref();
  return () => clearTimeout(timer);
};
