/** Watches: what is there, what has changed since, and what changes from now on. */
import type { Api } from './api.ts';
import { presented } from './event-forms.ts';
import type { JsonObject } from './json.ts';
import { apiVersionOf, type Kind, resourceKey } from './kinds.ts';
import type { Selector } from './selectors.ts';
import { StatusError } from './status-error.ts';
import type { Change } from './store.ts';

export interface WatchQuery {
  readonly namespace: string | undefined;
  readonly matches: Selector;
  /** The version to go on from; empty or `0` begins with what is there. */
  readonly resourceVersion: string;
  /** Begin with what is there and tell with a bookmark where that ends. */
  readonly initialEvents: boolean;
}

export interface SeenChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: JsonObject;
}

export type WatchEvent = SeenChange | { readonly type: 'BOOKMARK'; readonly object: JsonObject };

/**
 * Tells `listener` what was and, until the returned function is called, what will be. Throws Expired for a version that is no longer
 * known, before it has told anything.
 */
export function watch(
  api: Api,
  kind: Kind,
  query: WatchQuery,
  listener: (event: WatchEvent) => void,
): () => void {
  const { namespace, matches, resourceVersion } = query;
  const resource = resourceKey(kind);
  const tell = (change: Change): void => {
    if (change.stored.resource !== resource) return;
    const event = seenAs(change, namespace, matches, (object) => presented(kind, object));
    if (event) listener(event);
  };
  if (query.initialEvents || resourceVersion === '' || resourceVersion === '0') {
    for (const object of api.list(kind, namespace).filter(matches)) listener({ type: 'ADDED', object });
    if (query.initialEvents)
      listener(bookmark(api, kind, { annotations: { 'k8s.io/initial-events-end': 'true' } }));
  } else {
    for (const change of api.store.since(versionOf(resourceVersion))) tell(change);
  }
  return api.onChange(tell);
}

function versionOf(text: string): number {
  const version = Number(text);
  if (Number.isSafeInteger(version) && version >= 0) return version;
  // measured: a version that is none is a 500
  throw new StatusError('Unknown', `resourceVersion: Invalid value: ${JSON.stringify(text)}: invalid syntax`);
}

/** Nothing happened, and this is how far the watcher has seen. */
export const bookmark = (api: Api, kind: Kind, metadata: JsonObject = {}): WatchEvent => ({
  type: 'BOOKMARK',
  object: {
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    metadata: { resourceVersion: `${api.store.version}`, creationTimestamp: null, ...metadata },
  },
});

/**
 * What a watcher of `kind` sees of a change: an object that begins to match is ADDED, one that ends to match is DELETED. Undefined
 * when it is none of its business.
 */
export function seenAs(
  change: Change,
  namespace: string | undefined,
  matches: Selector,
  present: (object: JsonObject) => JsonObject,
): SeenChange | undefined {
  if (namespace !== undefined && change.stored.namespace !== namespace) return undefined;
  const object = present(change.stored.object);
  const matched = change.before !== undefined && matches(present(change.before));
  const match = change.type !== 'DELETED' && matches(object);
  if (match) return { type: matched ? 'MODIFIED' : 'ADDED', object };
  return matched ? { type: 'DELETED', object } : undefined;
}
