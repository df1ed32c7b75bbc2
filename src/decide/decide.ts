/** Observed → Verdict, pure: the first matching rule, and the duties that go on whatever the state is. */
import type { DesiredSettings } from '../desired/index.ts';
import type { Observed } from '../observe/observed.ts';
import { cleanUp, join, relabel, restore } from './duties.ts';
import { type Facts, factsOf } from './facts.ts';
import { healthy } from './healthy.ts';
import { standingMembership } from './membership.ts';
import { rules } from './rules.ts';
import type { Verdict } from './verdict.ts';

export interface Decision {
  readonly facts: Facts;
  readonly verdict: Verdict;
}

export function decide(observed: Observed, settings: DesiredSettings): Decision {
  const facts = factsOf(observed);
  const conclusion = firstMatch(facts);
  const { state, message, transitional, bootstrap, actions = [] } = conclusion;
  const membership = conclusion.membership ?? standingMembership(facts);
  const duties =
    conclusion.duties === 'none'
      ? []
      : [
          ...relabel(facts),
          ...(conclusion.duties === 'noObjects' ? [] : restore(facts, membership, settings)),
          ...join(facts),
          ...cleanUp(facts),
        ];
  return {
    facts,
    verdict: {
      state,
      message,
      transitional: transitional || facts.awaitsController,
      actions: [...duties, ...actions],
      ...(bootstrap ? { bootstrap } : {}),
    },
  };
}

function firstMatch(facts: Facts) {
  for (const rule of rules) {
    const conclusion = rule(facts);
    if (conclusion) return conclusion;
  }
  return healthy(facts);
}
