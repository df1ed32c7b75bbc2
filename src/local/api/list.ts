/** Lists in pages. */
import type { Api } from './api.ts';
import { type JsonObject, metadataOf } from './json.ts';
import type { Kind } from './kinds.ts';
import { everything, type Selector } from './selectors.ts';
import { StatusError } from './status-error.ts';

export interface ListQuery {
  readonly namespace: string | undefined;
  readonly matches: Selector | undefined;
  readonly limit: number;
  readonly continueToken: string | undefined;
}

export interface Page {
  readonly items: readonly JsonObject[];
  readonly resourceVersion: string;
  readonly next: string | undefined;
  readonly remaining: number | undefined;
}

/** Pages are cut by name, so that what comes or goes meanwhile shifts nothing. Throws Expired for a token from before a compaction. */
export function listPage(
  api: Api,
  kind: Kind,
  { namespace, matches, limit, continueToken }: ListQuery,
): Page {
  const start = continueToken ? decode(continueToken) : undefined;
  if (start) api.store.since(start.version);
  const all = api.list(kind, namespace).filter(matches ?? everything);
  const rest = start ? all.filter((object) => keyOf(object) > start.after) : all;
  const items = limit > 0 ? rest.slice(0, limit) : rest;
  const remaining = rest.length - items.length;
  const last = items.at(-1);
  const version = start?.version ?? api.store.version;
  return {
    items,
    resourceVersion: `${version}`,
    next: remaining > 0 && last ? encode({ version, after: keyOf(last) }) : undefined,
    // measured: not counted where a selector would have to look at each of them
    remaining: remaining > 0 && !matches ? remaining : undefined,
  };
}

const keyOf = (object: JsonObject): string => {
  const { namespace, name } = metadataOf(object);
  return `${String(namespace ?? '')}/${String(name)}`;
};

const encode = (token: { readonly version: number; readonly after: string }): string =>
  Buffer.from(JSON.stringify(token)).toString('base64url');

function decode(token: string): { version: number; after: string } {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
    const { version, after } = parsed as { version: unknown; after: unknown };
    if (typeof version === 'number' && typeof after === 'string') return { version, after };
  } catch {
    // told below
  }
  throw new StatusError('BadRequest', 'continue key is not valid');
}
