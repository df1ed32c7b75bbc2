/** What is told of a row of measurements. */
export interface Spread {
  readonly median: number;
  readonly p95: number;
  readonly least: number;
  readonly most: number;
  readonly count: number;
}

/** `values` must not be empty. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  /** Nearest rank. */
  const at = (share: number): number =>
    sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { median: at(0.5), p95: at(0.95), least: at(0), most: at(1), count: sorted.length };
}
