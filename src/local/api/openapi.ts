/** OpenAPI v3, as far as kubectl needs it: `explain`, and whether the server validates fields. */
import type { Json, JsonObject } from './json.ts';
import { apiVersionOf, type Kind } from './kinds.ts';
import type { Schema } from './schema.ts';

const rootOf = (apiVersion: string): string => (apiVersion === 'v1' ? 'api/v1' : `apis/${apiVersion}`);

export function index(kinds: readonly Kind[]): JsonObject {
  const versions = [...new Set(kinds.map(apiVersionOf))];
  return {
    paths: Object.fromEntries(
      versions.map((one) => [rootOf(one), { serverRelativeURL: `/openapi/v3/${rootOf(one)}` }]),
    ),
  };
}

/** Undefined for a version that is not served. */
export function document(kinds: readonly Kind[], path: string): JsonObject | undefined {
  const own = kinds.filter((kind) => rootOf(apiVersionOf(kind)) === path);
  if (own.length === 0) return undefined;
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'embedded' },
    paths: Object.fromEntries(own.flatMap(pathsOf)),
    components: {
      schemas: Object.fromEntries([
        ...own.map((kind) => [nameOf(kind), schemaOf(kind)] as const),
        [META, META_SCHEMA],
      ]),
    },
  };
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const META_SCHEMA: JsonObject = {
  type: 'object',
  description: 'Standard metadata of every object.',
  properties: {
    name: { type: 'string', description: 'Unique within a namespace.' },
    namespace: { type: 'string', description: 'The space within which the name must be unique.' },
    labels: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'Keys and values to select objects by.',
    },
    annotations: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'Keys and values of no meaning to the API.',
    },
  },
};

const nameOf = (kind: Kind): string =>
  `${(kind.group || 'core').split('.').reverse().join('.')}.${kind.version}.${kind.kind}`;
const gvk = ({ group, version, kind }: Kind): JsonObject => ({ group, version, kind });

function pathsOf(kind: Kind): [string, JsonObject][] {
  const collection = `/${rootOf(apiVersionOf(kind))}${kind.namespaced ? '/namespaces/{namespace}' : ''}/${kind.plural}`;
  const query = (name: string) => ({ name, in: 'query', schema: { type: 'string' } });
  const write = (action: string): JsonObject => ({
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': gvk(kind),
    parameters: ['dryRun', 'fieldManager', 'fieldValidation'].map(query),
    responses: {
      '200': { description: 'OK', content: { 'application/json': { schema: reference(nameOf(kind)) } } },
    },
  });
  return [
    [collection, { post: write('post'), get: { ...write('list'), parameters: [] } }],
    [
      `${collection}/{name}`,
      { get: { ...write('get'), parameters: [] }, put: write('put'), patch: write('patch') },
    ],
  ];
}

const reference = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

function schemaOf(kind: Kind): JsonObject {
  const schema = (kind.schema ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }) as Schema;
  return {
    ...(schema as unknown as JsonObject),
    properties: {
      ...(schema.properties as unknown as JsonObject | undefined),
      apiVersion: { type: 'string', description: 'The versioned schema of this object.' },
      kind: { type: 'string', description: 'What this object is.' },
      metadata: { allOf: [reference(META)], description: 'Standard metadata.' } as Json,
    },
    'x-kubernetes-group-version-kind': [gvk(kind)],
  };
}
