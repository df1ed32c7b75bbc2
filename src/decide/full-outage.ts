import { contains, formatGtidSet, isEmpty, subtract, union } from '../mysql/gtid.ts';
import type { Conclusion, Rule } from './conclusion.ts';
import { acceptLossOf, type Facts, mayAnswerSoon, names, type Standing, silent, troubles } from './facts.ts';
import type { State } from './verdict.ts';

/**
 * Nobody is in a group. Every member must answer before one may start it: the one whose executed and received transactions contain
 * all the others'. The choice is recorded in the status by compare-and-swap; a later pass that finds it still true acts
 * (docs/adr/0003). A new cluster (NotBootstrapped) is the same with empty sets.
 */
export const fullOutage: Rule = (facts) => {
  const { group, members } = facts;
  if (group || members.length === 0) return undefined;
  const missing = silent(facts);
  const state = hadGroup(facts, missing) ? 'FullOutage' : 'NotBootstrapped';
  if (missing.length > 0) {
    const wayOut = state === 'FullOutage' ? ` If they are gone for good, ${acceptLossOf(missing)}.` : '';
    return {
      state,
      message: `No member is in a group, and every one must answer before one may start it. Still missing: ${troubles(missing)}.${wayOut}`,
      transitional: mayAnswerSoon(missing),
    };
  }
  const busy = members.filter((standing) => standing.answer?.cloning || standing.leaving);
  if (busy.length > 0) {
    return {
      state,
      message: `Waiting for ${names(busy)}: a clone or a deletion is under way.`,
      transitional: true,
    };
  }
  return start(facts, state);
};

/** Whether there is anything to recover: a silent member of a cluster that once had a group may hold all of it. */
const hadGroup = ({ members, observed }: Facts, missing: readonly Standing[]): boolean =>
  members.some((standing) => !isEmpty(standing.transactions)) ||
  (missing.length > 0 && observed.mysql.status?.bootstrap !== undefined);

function start(facts: Facts, state: State): Conclusion {
  const record = facts.observed.mysql.status?.bootstrap;
  const counted = countedMembers(facts);
  const everything = union(...counted.map((standing) => standing.transactions));
  const candidates = counted.filter((standing) => contains(standing.transactions, everything));
  const chosen = candidates.find((standing) => standing.name === record?.member) ?? candidates[0];
  if (!chosen?.answer || !chosen.member) {
    const lacks = counted.map(
      (standing) => `${standing.name} lacks ${formatGtidSet(subtract(everything, standing.transactions))}`,
    );
    return {
      state,
      message: `No member has every transaction: ${lacks.join('; ')}. To go on without what some members hold alone, name those: ${acceptLossOf([{ name: '<member>,…' }])}.`,
      transitional: false,
    };
  }
  const { executed } = chosen.answer;
  if (record?.member !== chosen.name || record.executed !== executed) {
    return {
      state,
      message: `${chosen.name} has every transaction and is chosen to start the group.`,
      transitional: true,
      bootstrap: {
        member: chosen.name,
        executed,
        at: facts.observed.at.toISOString().replace(/\.\d+Z$/, 'Z'),
      },
    };
  }
  return {
    state,
    message: `${chosen.name} starts the group.`,
    transitional: true,
    actions: [{ do: 'bootstrap', member: chosen.member, expected: executed }],
  };
}

/** Those whose transactions must not be lost; when the user gave up all of them, all that answer. */
function countedMembers({ members, acceptedLosses }: Facts): readonly Standing[] {
  const answering = members.filter((standing) => standing.answer);
  const trusted = answering.filter((standing) => !acceptedLosses.has(standing.name));
  return trusted.length > 0 ? trusted : answering;
}
