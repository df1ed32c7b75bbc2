/** Thousands of settled clusters, put straight into the embedded API's store. */
import type { Api } from '../../src/local/api/api.ts';
import type { JsonObject } from '../../src/local/api/json.ts';
import { resourceKey } from '../../src/local/api/kinds.ts';
import { LABEL, ownedLabels, podName } from '../../src/resource/names.ts';

const AT = '2026-01-01T00:00:00Z';
/** About what a real pod has of environment, volumes and tolerations. */
const FILLER = { containers: [{ name: 'mysqld', command: ['bash', '-c', 'x'.repeat(2_000)] }] };

export function addSettled(api: Api, count: number): void {
  for (let index = 0; index < count; index += 1) addOne(api, `m${index}`);
}

function addOne(api: Api, name: string): void {
  const uid = `uid-${name}`;
  const labels = ownedLabels(name);
  const names = [0, 1, 2].map((ordinal) => podName(name, ordinal));
  const put = (apiVersion: string, kind: string, object: JsonObject) => {
    const metadata = object.metadata as JsonObject;
    api.store.put({
      resource: resourceKey(api.kindOf(apiVersion, kind)),
      namespace: 'default',
      name: String(metadata.name),
      object: { ...object, apiVersion, kind, metadata: { ...metadata, namespace: 'default', generation: 1 } },
      managers: [],
    });
  };
  put('example.com/v1alpha1', 'Mysql', {
    metadata: { name, uid },
    spec: { size: 3, image: 'mysql:8.4' },
    status: {
      observedGeneration: 1,
      nodes: names,
      primary: podName(name, 0),
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Healthy',
          message: '',
          observedGeneration: 1,
          lastTransitionTime: AT,
        },
      ],
    },
  });
  const owner = { apiVersion: 'example.com/v1alpha1', kind: 'Mysql', name, uid, controller: true };
  put('apps/v1', 'StatefulSet', {
    metadata: { name, labels, uid: `set-${name}`, ownerReferences: [owner] },
    spec: { replicas: 3, template: { spec: FILLER } },
    status: { observedGeneration: 1, replicas: 3, readyReplicas: 3 },
  });
  for (const [ordinal, pod] of names.entries()) {
    put('v1', 'Pod', {
      metadata: {
        name: pod,
        uid: `pod-${pod}`,
        labels: { ...labels, [LABEL.role]: ordinal === 0 ? 'primary' : 'secondary' },
      },
      spec: FILLER,
      status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: AT }] },
    });
  }
}
