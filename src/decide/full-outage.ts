import { contains, formatGtidSet, isEmpty, subtract, union } from '../mysql/gtid.ts';
import type { Conclusion, Rule } from './conclusion.ts';
import type { Facts, Standing } from './facts.ts';
import { names, silent, troubles } from './facts.ts';

/**
 * Nobody is in a group. Every member must answer before one may start it: the one whose executed and received transactions contain
 * all the others'. The choice is recorded in the status by compare-and-swap; a later pass that finds it still true acts
 * (docs/adr/0003). A new cluster (NotBootstrapped) is the same with empty sets.
 */
export const fullOutage: Rule = (facts) => {
  if (facts.group || facts.replicas === 0) return undefined;
  const members = facts.standings.filter((standing) => standing.ordinal < facts.replicas);
  const empty = members.every((standing) => isEmpty(standing.transactions));
  const state =
    empty && !(silent(facts).length > 0 && facts.observed.mysql.status?.bootstrap)
      ? 'NotBootstrapped'
      : 'FullOutage';
  const missing = silent(facts);
  if (missing.length > 0) {
    return {
      state,
      message:
        `No member is in a group, and every one must answer before one may start it. Waiting for ${troubles(missing)}.` +
        (state === 'FullOutage'
          ? ` If they are gone for good, annotate with mysql.example.com/accept-data-loss: ${missing.map((one) => one.name).join(',')}.`
          : ''),
      transitional: missing.some((one) => one.state === 'Unanswering' || one.trouble === 'is being deleted'),
    };
  }
  const busy = members.filter((standing) => standing.answer?.cloning);
  if (busy.length > 0) {
    return { state, message: `Waiting for the clone into ${names(busy)}.`, transitional: true };
  }
  return start(facts, members, state);
};

function start(facts: Facts, members: readonly Standing[], state: Conclusion['state']): Conclusion {
  const answering = members.filter((standing) => standing.answer);
  const trusted = answering.filter((standing) => !facts.acceptedLosses.has(standing.name));
  const counted = trusted.length > 0 ? trusted : answering;
  const everything = union(...counted.map((standing) => standing.transactions));
  const candidates = counted.filter((standing) => contains(standing.transactions, everything));
  const record = facts.observed.mysql.status?.bootstrap;
  const chosen = candidates.find((standing) => standing.name === record?.member) ?? candidates[0];
  if (!chosen?.answer || !chosen.member) {
    const lacks = counted.map(
      (standing) => `${standing.name} lacks ${formatGtidSet(subtract(everything, standing.transactions))}`,
    );
    return {
      state,
      message:
        `No member has every transaction: ${lacks.join('; ')}. Annotate with mysql.example.com/accept-data-loss ` +
        'naming the members whose own transactions may be lost.',
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
