/** Kubernetes quantities (`10Gi`, `0.5`, `100m`, `1e3`): only as far as comparing them goes. */

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** The value in base units (bytes, cores); undefined for what is no quantity. */
export function quantity(value: string | number): number | undefined {
  const match = /^([+-]?\d+(?:\.\d*)?|[+-]?\.\d+)(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/.exec(
    String(value),
  );
  if (!match) return undefined;
  return Number(`${match[1]}${match[2] ?? ''}`) * (UNITS[match[3] ?? ''] ?? 1);
}
