/** A verdict in few words, so that tests read as what is done: `orders(verdict)` gives `['leave db-1']`. */
import type { StatefulSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Action, Verdict } from './verdict.ts';

/** What is told to members and taken away, in words: `leave db-1`. */
export const orders = (verdict: Verdict): readonly string[] =>
  verdict.actions.filter((action) => !isWrite(action)).map(inWords);

/** What is written: `apply Service/db`, `relabel db-1`. */
export const writes = (verdict: Verdict): readonly string[] => verdict.actions.filter(isWrite).map(inWords);

const isWrite = (action: Action): boolean => ['apply', 'create', 'relabel'].includes(action.do);

/** The StatefulSet as it is written, when it is. */
export function writtenSet(verdict: Verdict): StatefulSet | undefined {
  const found = verdict.actions.find((action) => action.do === 'apply' && action.kind === 'StatefulSet');
  return found?.do === 'apply' ? (found.object as StatefulSet) : undefined;
}

function inWords(action: Action): string {
  switch (action.do) {
    case 'apply':
    case 'create':
      return `${action.do} ${action.kind}/${action.object.metadata?.name}`;
    case 'delete':
      return `delete ${action.target.kind}/${action.target.name}`;
    case 'relabel':
      return `relabel ${action.target.name}`;
    case 'removeAnnotations':
      return `remove ${action.keys.join(', ')}`;
    case 'bootstrap':
      return `bootstrap ${action.member.name} at ${action.expected || 'nothing'}`;
    case 'join':
      return `join ${action.member.name} to ${action.seeds.map((seed) => seed.name).join(', ')}`;
    case 'rebuild':
      return `rebuild ${action.member.name} from ${action.donor.name}`;
    case 'leave':
      return `leave ${action.member.name}`;
    case 'setPrimary':
      return `setPrimary ${action.target.name} via ${action.via.name}`;
    default:
      return action satisfies never;
  }
}
