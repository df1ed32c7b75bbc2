/** Workloads × kinds, each with the number of plans and, where there are any, of divergences. */
import type { Verdict } from './plan.ts';

export interface Tally {
  plans: number;
  divergences: number;
}

export const tallyBy = (
  verdicts: readonly Verdict[],
  keyOf: (workload: string, kind: string) => string,
): Record<string, Tally> => {
  const tallies: Record<string, Tally> = {};
  for (const { id, faults } of verdicts) {
    const [workload = '', kind = ''] = id.split('/');
    const key = keyOf(workload, kind);
    const tally = tallies[key] ?? { plans: 0, divergences: 0 };
    tallies[key] = tally;
    tally.plans += 1;
    if (faults.length > 0) tally.divergences += 1;
  }
  return tallies;
};

export function tableOf(verdicts: readonly Verdict[]): string {
  const cells = tallyBy(verdicts, (workload, kind) => `${workload}/${kind}`);
  const rows = tallyBy(verdicts, (workload) => workload);
  const columns = tallyBy(verdicts, (_, kind) => kind);
  const all = tallyBy(verdicts, () => '')[''];
  const kinds = Object.keys(columns);
  const lines = [
    ['', ...kinds, 'all'],
    ...Object.entries(rows).map(([workload, sum]) => [
      workload,
      ...kinds.map((kind) => inWords(cells[`${workload}/${kind}`])),
      inWords(sum),
    ]),
    ['all', ...kinds.map((kind) => inWords(columns[kind])), inWords(all)],
  ];
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  '),
    )
    .join('\n');
}

const inWords = (tally: Tally | undefined): string => {
  if (!tally) return '-';
  return tally.divergences > 0 ? `${tally.plans} (${tally.divergences}!)` : `${tally.plans}`;
};
