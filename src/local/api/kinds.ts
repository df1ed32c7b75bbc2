/** The kinds that are served: the built-in ones that the operator and its users meet, and what CustomResourceDefinitions add. */
import { at, isObject, type Json, type JsonObject, textAt } from './json.ts';
import type { Schema } from './schema.ts';

export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** Status is a subresource: a write to the main resource leaves it alone, and the other way round. */
  readonly status: boolean;
  /** Paths of the scale subresource. */
  readonly scale:
    | {
        readonly specReplicas: string;
        readonly statusReplicas: string;
        readonly selector: string | undefined;
      }
    | undefined;
  /** Of custom resources only. */
  readonly schema: Schema | undefined;
  readonly columns: readonly Column[];
}

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly priority: number;
  readonly description: string;
}

export const apiVersionOf = ({ group, version }: Pick<Kind, 'group' | 'version'>): string =>
  group ? `${group}/${version}` : version;

/** Identifies a kind's collection; the version does not matter to storage, and both APIs of Events are one. */
export const resourceKey = ({ group, plural }: Pick<Kind, 'group' | 'plural'>): string =>
  `${plural}.${group === 'events.k8s.io' ? '' : group}`;

type Extras = Partial<Pick<Kind, 'shortNames' | 'categories' | 'namespaced' | 'status' | 'scale'>>;

function builtIn(apiVersion: string, kind: string, plural: string, extras: Extras = {}): Kind {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  return {
    group,
    version,
    kind,
    plural,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced: true,
    status: false,
    scale: undefined,
    schema: undefined,
    columns: [],
    ...extras,
  };
}

const all = ['all'];

export const BUILT_IN: readonly Kind[] = [
  builtIn('v1', 'Namespace', 'namespaces', { namespaced: false, shortNames: ['ns'], status: true }),
  builtIn('v1', 'Pod', 'pods', { shortNames: ['po'], categories: all, status: true }),
  builtIn('v1', 'Service', 'services', { shortNames: ['svc'], categories: all, status: true }),
  builtIn('v1', 'ConfigMap', 'configmaps', { shortNames: ['cm'] }),
  builtIn('v1', 'Secret', 'secrets'),
  builtIn('v1', 'ServiceAccount', 'serviceaccounts', { shortNames: ['sa'] }),
  builtIn('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', { shortNames: ['pvc'], status: true }),
  builtIn('v1', 'ResourceQuota', 'resourcequotas', { shortNames: ['quota'], status: true }),
  builtIn('v1', 'Event', 'events', { shortNames: ['ev'] }),
  builtIn('events.k8s.io/v1', 'Event', 'events', { shortNames: ['ev'] }),
  builtIn('apps/v1', 'StatefulSet', 'statefulsets', {
    shortNames: ['sts'],
    categories: all,
    status: true,
    scale: { specReplicas: '.spec.replicas', statusReplicas: '.status.replicas', selector: '.spec.selector' },
  }),
  builtIn('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', { shortNames: ['pdb'], status: true }),
  builtIn('batch/v1', 'Job', 'jobs', { categories: all, status: true }),
  builtIn('batch/v1', 'CronJob', 'cronjobs', { shortNames: ['cj'], categories: all, status: true }),
  builtIn('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
    namespaced: false,
    shortNames: ['crd', 'crds'],
    status: true,
  }),
];

/** The kinds that one CustomResourceDefinition defines, a served version each. */
export function customKinds(crd: JsonObject): readonly Kind[] {
  const names = at(crd, 'spec', 'names');
  const texts = (value: Json | undefined) =>
    Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  const versions = at(crd, 'spec', 'versions');
  return (Array.isArray(versions) ? versions : []).filter(isObject).flatMap((version) => {
    if (version.served !== true) return [];
    const kind = textAt(names, 'kind') ?? '';
    const scale = at(version, 'subresources', 'scale');
    return {
      group: textAt(crd, 'spec', 'group') ?? '',
      version: textAt(version, 'name') ?? '',
      kind,
      plural: textAt(names, 'plural') ?? '',
      singular: textAt(names, 'singular') ?? kind.toLowerCase(),
      shortNames: texts(at(names, 'shortNames')),
      categories: texts(at(names, 'categories')),
      namespaced: textAt(crd, 'spec', 'scope') === 'Namespaced',
      status: at(version, 'subresources', 'status') !== undefined,
      scale: isObject(scale)
        ? {
            specReplicas: textAt(scale, 'specReplicasPath') ?? '',
            statusReplicas: textAt(scale, 'statusReplicasPath') ?? '',
            selector: textAt(scale, 'labelSelectorPath'),
          }
        : undefined,
      schema: at(version, 'schema', 'openAPIV3Schema') as Schema | undefined,
      columns: columnsOf(version),
    };
  });
}

function columnsOf(version: JsonObject): readonly Column[] {
  const columns = version.additionalPrinterColumns;
  return (Array.isArray(columns) ? columns : []).filter(isObject).map((column) => ({
    name: textAt(column, 'name') ?? '',
    type: textAt(column, 'type') ?? 'string',
    jsonPath: textAt(column, 'jsonPath') ?? '',
    priority: Number(column.priority ?? 0),
    description: textAt(column, 'description') ?? '',
  }));
}
