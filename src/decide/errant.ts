import { formatGtidSet, isEmpty } from '../mysql/gtid.ts';
import { ANNOTATION } from '../resource/names.ts';
import type { Rule } from './conclusion.ts';
import { names } from './facts.ts';

/**
 * A member outside the group holds transactions that the group does not have. It is named and kept out of service and never repaired
 * silently: the user may want to look at them first. The annotation `rebuild` re-clones it; one that is to go anyway just goes, its
 * volume stays.
 */
export const errant: Rule = (facts) => {
  const errants = facts.wanted.filter((standing) => !isEmpty(standing.errant));
  if (!facts.group || errants.length === 0) return undefined;
  const wish = facts.observed.mysql.metadata.annotations?.[ANNOTATION.rebuild];
  const rebuilt = errants.find((standing) => standing.name === wish);
  const donors = facts.online.filter((standing) => standing.settled);
  const donor = donors.find((standing) => standing.role === 'SECONDARY') ?? donors[0];
  if (rebuilt?.member && donor?.member) {
    return {
      state: 'Errant',
      message: `Rebuilding ${rebuilt.name} as a clone of ${donor.name}.`,
      transitional: true,
      actions: rebuilt.answer?.cloning
        ? []
        : [{ do: 'rebuild', member: rebuilt.member, donor: donor.member }],
    };
  }
  const held = errants.map((standing) => `${standing.name} holds ${formatGtidSet(standing.errant)}`);
  return {
    state: 'Errant',
    message:
      `${held.join('; ')}: transactions that the group does not have. ${names(errants)} stays out of service; ` +
      `to replace all its data by a clone, annotate with ${ANNOTATION.rebuild}: ${errants[0]?.name}.`,
    transitional: false,
  };
};
