/** Where each kind lives in the API (Kubernetes API reference). */
import { API_VERSION, PLURAL } from '../resource/names.ts';
import type { Kind } from './cluster.ts';

interface Resource {
  readonly apiVersion: string;
  readonly plural: string;
}

const RESOURCES: Readonly<Record<Kind, Resource>> = {
  Mysql: { apiVersion: API_VERSION, plural: PLURAL },
  StatefulSet: { apiVersion: 'apps/v1', plural: 'statefulsets' },
  Service: { apiVersion: 'v1', plural: 'services' },
  ConfigMap: { apiVersion: 'v1', plural: 'configmaps' },
  Secret: { apiVersion: 'v1', plural: 'secrets' },
  PodDisruptionBudget: { apiVersion: 'policy/v1', plural: 'poddisruptionbudgets' },
  Pod: { apiVersion: 'v1', plural: 'pods' },
  PersistentVolumeClaim: { apiVersion: 'v1', plural: 'persistentvolumeclaims' },
};

export const apiVersionOf = (kind: Kind): string => RESOURCES[kind].apiVersion;

const root = (apiVersion: string): string => (apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`);

/** All objects of a kind, in one namespace or in all. */
export function collectionPath(kind: Kind, namespace?: string): string {
  const { apiVersion, plural } = RESOURCES[kind];
  return namespace === undefined
    ? `${root(apiVersion)}/${plural}`
    : `${root(apiVersion)}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
}

export const objectPath = (kind: Kind, namespace: string, name: string): string =>
  `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}`;

export const eventsPath = (namespace: string): string =>
  `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/events`;
export const coreEventsPath = (namespace: string): string =>
  `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`;
