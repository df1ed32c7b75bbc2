import type { Rule } from './conclusion.ts';
import type { Facts, Standing } from './facts.ts';
import type { Action } from './verdict.ts';

/** `spec.primary` names another ONLINE member than the primary: a planned switchover, without failed writes. */
export const switchingOver: Rule = (facts) => {
  const wish = facts.observed.mysql.spec.primary;
  const target = facts.wanted.find((standing) => standing.ordinal === wish);
  if (!target || !facts.primary || target.ordinal === facts.primary.ordinal) return undefined;
  return {
    state: 'SwitchingOver',
    message: `Making ${target.name} the primary instead of ${facts.primary.name}.`,
    transitional: true,
    actions: switchTo(facts, target),
  };
};

/** The order is given through the primary when it answers, else through the target itself. */
export function switchTo(facts: Facts, target: Standing): readonly Action[] {
  const via = facts.primary?.answer ? facts.primary.member : target.member;
  return target.answer && target.member && via
    ? [{ do: 'setPrimary', via, target: target.member, uuid: target.answer.uuid }]
    : [];
}
