/**
 * GTID sets as MySQL prints them: `uuid:1-5:7,uuid:tag:1-3` (tags since 8.3). Sets are values: parse, combine, format.
 * Source of the format: MySQL manual, "GTID Sets".
 */

/** Inclusive, 1-based, first ≤ last. */
type Interval = readonly [first: number, last: number];

/** Sorted, disjoint, non-adjacent intervals by source (`uuid` or `uuid:tag`, lower case). No source has an empty list. */
export type GtidSet = ReadonlyMap<string, readonly Interval[]>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TAG = /^[a-z_][a-z0-9_]{0,31}$/;
const INTERVAL = /^(\d+)(?:-(\d+))?$/;

export const EMPTY: GtidSet = new Map();

/** Throws SyntaxError for anything that MySQL would not print. White space and line breaks are allowed anywhere between parts. */
export function parseGtidSet(text: string): GtidSet {
  const found = new Map<string, Interval[]>();
  for (const part of text.toLowerCase().replace(/\s+/g, '').split(',')) {
    if (part === '') continue;
    const [uuid = '', ...rest] = part.split(':');
    if (!UUID.test(uuid)) throw new SyntaxError(`not a GTID set: "${part}" does not begin with a UUID`);
    if (!INTERVAL.test(rest.at(-1) ?? '')) {
      throw new SyntaxError(`not a GTID set: "${part}" does not end with an interval`);
    }
    let source = uuid;
    for (const piece of rest) {
      const interval = INTERVAL.exec(piece);
      if (interval) {
        const first = Number(interval[1]);
        const last = Number(interval[2] ?? interval[1]);
        if (first < 1 || last < first)
          throw new SyntaxError(`not a GTID set: interval "${piece}" of ${source}`);
        const list = found.get(source) ?? [];
        list.push([first, last]);
        found.set(source, list);
      } else if (TAG.test(piece)) {
        source = `${uuid}:${piece}`;
      } else {
        throw new SyntaxError(`not a GTID set: "${piece}" of ${source} is neither an interval nor a tag`);
      }
    }
  }
  return new Map([...found].map(([source, intervals]) => [source, merge(intervals)]));
}

/** The shortest text, sources sorted. */
export function formatGtidSet(set: GtidSet): string {
  return [...set]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([source, intervals]) =>
      [source, ...intervals.map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`))].join(':'),
    )
    .join(',');
}

export const isEmpty = (set: GtidSet): boolean => set.size === 0;

export function union(...sets: readonly GtidSet[]): GtidSet {
  const all = new Map<string, Interval[]>();
  for (const set of sets) {
    for (const [source, intervals] of set) all.set(source, [...(all.get(source) ?? []), ...intervals]);
  }
  return new Map([...all].map(([source, intervals]) => [source, merge(intervals)]));
}

/** What is in `a` and not in `b`. */
export function subtract(a: GtidSet, b: GtidSet): GtidSet {
  const left = new Map<string, readonly Interval[]>();
  for (const [source, intervals] of a) {
    const rest = without(intervals, b.get(source) ?? []);
    if (rest.length > 0) left.set(source, rest);
  }
  return left;
}

/** Whether every transaction of `b` is in `a`. */
export const contains = (a: GtidSet, b: GtidSet): boolean => isEmpty(subtract(b, a));

export const sameGtids = (a: GtidSet, b: GtidSet): boolean => contains(a, b) && contains(b, a);

function merge(intervals: readonly Interval[]): Interval[] {
  const merged: [number, number][] = [];
  for (const [first, last] of [...intervals].sort((a, b) => a[0] - b[0])) {
    const previous = merged.at(-1);
    if (previous && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
    else merged.push([first, last]);
  }
  return merged;
}

function without(from: readonly Interval[], cut: readonly Interval[]): Interval[] {
  const rest: Interval[] = [];
  for (const [first, last] of from) {
    let start = first;
    for (const [a, b] of cut) {
      if (b < start || a > last) continue;
      if (a > start) rest.push([start, a - 1]);
      start = b + 1;
    }
    if (start <= last) rest.push([start, last]);
  }
  return rest;
}
