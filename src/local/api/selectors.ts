/** Label and field selectors, as query strings carry them. */
import { at, type Json, type JsonObject, textAt } from './json.ts';
import type { Kind } from './kinds.ts';
import { StatusError } from './status-error.ts';

export type Selector = (object: JsonObject) => boolean;

export const everything: Selector = () => true;

/** `a=b,c!=d,e,!f,g in (x,y),h notin (z)`. Throws BadRequest. */
export function labelSelector(text: string | undefined): Selector {
  if (!text) return everything;
  const terms = text.split(/,(?![^(]*\))/).map((term) => labelTerm(term.trim()));
  return (object) => {
    const labels = at(object, 'metadata', 'labels');
    return terms.every((term) => term((key) => textAt(labels, key)));
  };
}

type Lookup = (key: string) => string | undefined;

function labelTerm(term: string): (lookup: Lookup) => boolean {
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(term);
  if (set?.[1] && set[3] !== undefined) {
    const [, key, verb] = set;
    const values = new Set(set[3].split(',').map((value) => value.trim()));
    return (lookup) =>
      values.has(lookup(key) ?? '') === (verb === 'in') && (verb === 'notin' || lookup(key) !== undefined);
  }
  const equality = /^([^=!\s]+)\s*(==|=|!=)\s*(\S*)$/.exec(term);
  if (equality?.[1]) {
    const [, key, verb, value = ''] = equality;
    return (lookup) => (verb === '!=' ? lookup(key) !== value : lookup(key) === value);
  }
  const existence = /^(!?)([^=!\s]+)$/.exec(term);
  if (!existence?.[2])
    throw new StatusError('BadRequest', `unable to parse requirement: ${JSON.stringify(term)}`);
  const [, not, key] = existence;
  return (lookup) => (lookup(key) === undefined) === (not === '!');
}

/** `metadata.name=x,involvedObject.kind!=y`. Throws BadRequest, also for fields that `kind` cannot be selected by. */
export function fieldSelector(kind: Kind, text: string | undefined): Selector {
  if (!text) return everything;
  const terms = text.split(',').map((term) => {
    const match = /^([^=!]+)(==|=|!=)(.*)$/.exec(term.trim());
    if (!match?.[1])
      throw new StatusError('BadRequest', `unable to parse field selector: ${JSON.stringify(term)}`);
    const [, field, verb, wanted = ''] = match;
    if (!isSelectable(kind, field))
      throw new StatusError('BadRequest', `field label not supported: ${field}`);
    return (object: JsonObject) => (shown(at(object, ...field.split('.'))) === wanted) === (verb !== '!=');
  });
  return (object) => terms.every((term) => term(object));
}

/** Kubernetes keeps an index of few fields; which depends on the kind. */
const SELECTABLE: Readonly<Record<string, RegExp>> = {
  Pod: /^(spec\.(nodeName|restartPolicy|schedulerName|serviceAccountName)|status\.(phase|podIP))$/,
  Event: /^((involvedObject|regarding)\.\w+|reason|reportingComponent|reportingController|source|type)$/,
  Secret: /^type$/,
  Namespace: /^status\.phase$/,
  Job: /^status\.successful$/,
};

const isSelectable = (kind: Kind, field: string): boolean =>
  /^metadata\.(name|namespace)$/.test(field) || (SELECTABLE[kind.kind]?.test(field) ?? false);

const shown = (value: Json | undefined): string =>
  value === undefined || value === null ? '' : String(value);
