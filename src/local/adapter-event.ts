/** The request that Knative's ApiServerSource adapter makes of a change, header by header as captured (test/fixtures/adapter). */
import { type Json, type JsonObject, textAt } from './api/json.ts';
import { apiVersionOf, type Kind } from './api/kinds.ts';

export type Verb = 'add' | 'update' | 'delete';

export interface AdapterEvent {
  readonly kind: Kind;
  readonly verb: Verb;
  /** As the API server shows it, managedFields included. */
  readonly object: JsonObject;
}

export interface EventContext {
  readonly mode: 'Reference' | 'Resource';
  /** The API server's address. */
  readonly source: string;
  /** Namespace of the ApiServerSource itself. */
  readonly namespace: string;
  readonly id: string;
  readonly time: Date;
}

export interface AdapterRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function requestFor(
  { kind, verb, object }: AdapterEvent,
  { mode, source, namespace, id, time }: EventContext,
): AdapterRequest {
  const name = textAt(object, 'metadata', 'name') ?? '';
  const objectNamespace = textAt(object, 'metadata', 'namespace') ?? '';
  const apiVersion = apiVersionOf(kind);
  const body = JSON.stringify(
    mode === 'Resource' ? sorted(object) : { kind: kind.kind, namespace: objectNamespace, name, apiVersion },
  );
  return {
    headers: {
      'User-Agent': 'Go-http-client/1.1',
      'Content-Length': `${Buffer.byteLength(body)}`,
      'Ce-Apiversion': apiVersion,
      'Ce-Id': id,
      'Ce-Kind': kind.kind,
      'Ce-Name': name,
      'Ce-Namespace': objectNamespace,
      'Ce-Source': source,
      'Ce-Specversion': '1.0',
      'Ce-Subject': `/apis/${apiVersion}/namespaces/${objectNamespace}/${kind.plural}/${name}`,
      'Ce-Time': time.toISOString().replace('Z', '000000Z'),
      'Ce-Type': `dev.knative.apiserver.${mode === 'Resource' ? 'resource' : 'ref'}.${verb}`,
      'Content-Type': 'application/json',
      'Kn-Namespace': namespace,
      'Accept-Encoding': 'gzip',
    },
    body,
  };
}

/** Go writes maps by key. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
