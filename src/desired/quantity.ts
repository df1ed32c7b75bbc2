/** Kubernetes quantities (`10Gi`, `0.5`, `100m`, `1e3`): only as far as comparing them goes. */

const DECIMAL: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY: Readonly<Record<string, number>> = {
  Ki: 10,
  Mi: 20,
  Gi: 30,
  Ti: 40,
  Pi: 50,
  Ei: 60,
};

/**
 * The value in base units (bytes, cores); undefined for what is no quantity. Equal quantities give equal numbers however they are
 * written: decimal units become an exponent before the text is parsed, and a power of two multiplies without rounding.
 */
export function quantity(value: string | number): number | undefined {
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d+)|([numkMGTPE]|[KMGTPE]i))?$/.exec(String(value));
  if (!match) return undefined;
  const [, digits = '', exponent, unit = ''] = match;
  return Number(`${digits}e${exponent ?? DECIMAL[unit] ?? 0}`) * 2 ** (BINARY[unit] ?? 0);
}
