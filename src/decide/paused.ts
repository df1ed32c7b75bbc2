import type { Rule } from './conclusion.ts';

/** `spec.paused`: nothing is changed, the status goes on telling what is there. */
export const paused: Rule = ({ observed }) =>
  observed.mysql.spec.paused
    ? {
        state: 'Paused',
        message: 'spec.paused is true: nothing is changed until it is false again.',
        transitional: false,
        duties: 'none',
      }
    : undefined;
