/**
 * StatefulSet → pods and claims, as far as this project uses it. Runs against the embedded controllers and, with CONTRACT_KUBECONFIG,
 * against those of a real cluster. The pods name a scheduler that does not exist: no kubelet touches them, and the test itself says
 * which of them are ready.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { anEndpoint, type Endpoint } from '../endpoint.ts';
import { type Reply, type Wire, wireTo } from './http.ts';

const APPLY = 'application/apply-patch+yaml';
const MERGE = 'application/merge-patch+json';
const DEADLINE = 15_000;

type Anything = Reply['body'];

let endpoint: Endpoint;
let wire: Wire;
before(async () => {
  endpoint = await anEndpoint();
  wire = await wireTo(endpoint.kubeconfig);
});
after(() => endpoint?.[Symbol.asyncDispose]());

const core = (plural: string, name = '') =>
  `/api/v1/namespaces/${endpoint.namespace}/${plural}${name && `/${name}`}`;
const sets = (name: string) => `/apis/apps/v1/namespaces/${endpoint.namespace}/statefulsets/${name}`;

const aSet = (name: string, { spec = {}, image = 'mysql:8.4' } = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name },
  spec: {
    replicas: 3,
    serviceName: `${name}-nodes`,
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'OnDelete' },
    selector: { matchLabels: { set: name } },
    template: {
      metadata: { labels: { set: name, more: 'labels' }, annotations: { note: 'kept' } },
      spec: {
        schedulerName: 'nobody',
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'mysqld', image, volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
        volumes: [{ name: 'tmp', emptyDir: {} }],
      },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data', labels: { of: 'template' } },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ],
    ...spec,
  },
});

async function apply(set: ReturnType<typeof aSet>): Promise<Anything> {
  const query = { fieldManager: 'test', force: 'true' };
  const reply = await wire.call('PATCH', sets(set.metadata.name), { body: set, type: APPLY, query });
  assert.ok(reply.status < 300, JSON.stringify(reply.body));
  return reply.body;
}
const get = async (path: string): Promise<Anything> => (await wire.call('GET', path)).body;
const podsOf = async (set: string): Promise<Anything[]> =>
  (await wire.call('GET', core('pods'), { query: { labelSelector: `set=${set}` } })).body.items;
const claimsOf = async (set: string): Promise<Anything[]> =>
  (await wire.call('GET', core('persistentvolumeclaims'), { query: { labelSelector: `set=${set}` } })).body
    .items;
const namesOf = (objects: readonly Anything[]) => objects.map((object) => object.metadata.name);

/** Asks until it is so; fails with what was there last. */
async function until<T>(ask: () => Promise<T>, isSo: (found: T) => boolean): Promise<T> {
  const started = performance.now();
  for (;;) {
    const found = await ask();
    if (isSo(found)) return found;
    if (performance.now() - started > DEADLINE) assert.fail(`still ${JSON.stringify(found, undefined, 1)}`);
    await pause(50);
  }
}
const untilPods = (set: string, ...names: string[]) =>
  until(
    () => podsOf(set),
    (pods) => namesOf(pods).join() === names.join() && pods.every((pod) => !pod.metadata.deletionTimestamp),
  );
const untilStatus = (set: string, wanted: object) =>
  until(
    async () => (await get(sets(set))).status,
    (status) => Object.entries(wanted).every(([field, value]) => (status?.[field] ?? 0) === value),
  );

async function makeReady(pod: string): Promise<void> {
  const status = {
    phase: 'Running',
    conditions: [
      { type: 'Ready', status: 'True', lastTransitionTime: new Date().toISOString().replace(/\.\d+/, '') },
    ],
  };
  const reply = await wire.call('PATCH', `${core('pods', pod)}/status`, { body: { status }, type: MERGE });
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
}
async function deleteNow(path: string): Promise<void> {
  const reply = await wire.call('DELETE', path, { body: { gracePeriodSeconds: 0 } });
  assert.ok(reply.status < 300, JSON.stringify(reply.body));
}

describe('pods and claims', () => {
  let set: Anything;
  let pods: Anything[];
  before(async () => {
    set = await apply(aSet('make'));
    pods = await untilPods('make', 'make-0', 'make-1', 'make-2');
  });

  test('one of each for every ordinal, all at once', async () => {
    assert.deepEqual(namesOf(await claimsOf('make')), ['data-make-0', 'data-make-1', 'data-make-2']);
  });

  test('a pod has the labels of the template, its own, and the revision that status names', async () => {
    const { updateRevision, currentRevision } = await untilStatus('make', { replicas: 3 });
    assert.match(updateRevision, /^make-[a-z0-9]+$/);
    assert.equal(currentRevision, updateRevision);
    assert.deepEqual(pods[1].metadata.labels, {
      set: 'make',
      more: 'labels',
      'apps.kubernetes.io/pod-index': '1',
      'controller-revision-hash': updateRevision,
      'statefulset.kubernetes.io/pod-name': 'make-1',
    });
    assert.deepEqual(pods[1].metadata.annotations, { note: 'kept' });
    assert.equal(pods[1].metadata.generateName, 'make-');
  });

  test('a pod is owned by the set, which controls it', () => {
    assert.deepEqual(pods[0].metadata.ownerReferences, [
      {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        name: 'make',
        uid: set.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
  });

  test('a pod has a stable host name and its own claim', () => {
    const { hostname, subdomain, volumes } = pods[2].spec;
    assert.deepEqual([hostname, subdomain], ['make-2', 'make-nodes']);
    assert.deepEqual(
      volumes.filter(({ name }: { name: string }) => !name.startsWith('kube-api-access')),
      [
        { name: 'data', persistentVolumeClaim: { claimName: 'data-make-2' } },
        { name: 'tmp', emptyDir: {} },
      ],
    );
  });

  test('a claim is what the template says, and found by the selector', async () => {
    const [claim] = await claimsOf('make');
    assert.deepEqual(claim.metadata.labels, { of: 'template', set: 'make' });
    assert.equal(claim.metadata.ownerReferences, undefined);
    assert.deepEqual(claim.spec.accessModes, ['ReadWriteOnce']);
    assert.deepEqual(claim.spec.resources, { requests: { storage: '1Gi' } });
  });

  test('status counts the pods that are ready, and has seen the generation', async () => {
    const before = await untilStatus('make', { replicas: 3, readyReplicas: 0 });
    assert.equal(before.availableReplicas, 0);
    await makeReady('make-0');
    await makeReady('make-2');
    await untilStatus('make', {
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 2,
      availableReplicas: 2,
      currentReplicas: 3,
      updatedReplicas: 3,
    });
  });

  test('a pod that was deleted is made again, with the claim that is there', async () => {
    const [claim] = await claimsOf('make');
    await deleteNow(core('pods', 'make-0'));
    const [again] = await until(
      () => podsOf('make'),
      ([first, ...rest]) => rest.length === 2 && first.metadata.uid !== pods[0].metadata.uid,
    );
    assert.equal(again.metadata.name, 'make-0');
    assert.equal((await claimsOf('make'))[0].metadata.uid, claim.metadata.uid);
    await untilStatus('make', { readyReplicas: 1 });
  });
});

describe('a new template', () => {
  test('OnDelete: it gives another revision and disturbs no pod; one that is deleted comes back new', async () => {
    await apply(aSet('roll'));
    const before = await untilPods('roll', 'roll-0', 'roll-1', 'roll-2');
    const { updateRevision: old } = await untilStatus('roll', { updatedReplicas: 3 });
    await apply(aSet('roll', { image: 'mysql:9.0' }));
    const { updateRevision, currentRevision } = await untilStatus('roll', {
      observedGeneration: 2,
      updatedReplicas: 0,
      currentReplicas: 3,
    });
    assert.notEqual(updateRevision, old);
    assert.equal(currentRevision, old);
    assert.deepEqual(
      (await podsOf('roll')).map((pod) => pod.metadata.uid),
      before.map((pod) => pod.metadata.uid),
    );
    await deleteNow(core('pods', 'roll-1'));
    const status = await untilStatus('roll', { updatedReplicas: 1, currentReplicas: 2, replicas: 3 });
    assert.deepEqual([status.currentRevision, status.updateRevision], [old, updateRevision]);
    const [first, second] = await podsOf('roll');
    assert.deepEqual(
      [first, second].map((pod) => [
        pod.metadata.labels['controller-revision-hash'],
        pod.spec.containers[0].image,
      ]),
      [
        [old, 'mysql:8.4'],
        [updateRevision, 'mysql:9.0'],
      ],
    );
    for (const pod of ['roll-0', 'roll-2']) await deleteNow(core('pods', pod));
    const done = await untilStatus('roll', { updatedReplicas: 3 });
    assert.deepEqual([done.currentRevision, done.currentReplicas ?? 0], [old, 0]);
  });

  test('going back gives the old revision again', async () => {
    await apply(aSet('back'));
    const { updateRevision: old } = await untilStatus('back', { updatedReplicas: 3 });
    await apply(aSet('back', { image: 'mysql:9.0' }));
    await untilStatus('back', { updatedReplicas: 0, observedGeneration: 2 });
    await apply(aSet('back'));
    const { updateRevision } = await untilStatus('back', { updatedReplicas: 3, observedGeneration: 3 });
    assert.equal(updateRevision, old);
  });

  test('a change of replicas alone is no new revision', async () => {
    await apply(aSet('same', { spec: { replicas: 1 } }));
    const { updateRevision: old } = await untilStatus('same', { replicas: 1 });
    await apply(aSet('same', { spec: { replicas: 2 } }));
    const { updateRevision } = await untilStatus('same', { replicas: 2, observedGeneration: 2 });
    assert.equal(updateRevision, old);
  });
});

describe('replicas', () => {
  test('fewer take the highest ordinals away and leave the claims; more make the rest again', async () => {
    await apply(aSet('scale'));
    await untilPods('scale', 'scale-0', 'scale-1', 'scale-2');
    await apply(aSet('scale', { spec: { replicas: 1 } }));
    await untilPods('scale', 'scale-0');
    const claims = await claimsOf('scale');
    assert.deepEqual(namesOf(claims), ['data-scale-0', 'data-scale-1', 'data-scale-2']);
    await apply(aSet('scale', { spec: { replicas: 2 } }));
    await untilPods('scale', 'scale-0', 'scale-1');
    assert.deepEqual(
      (await claimsOf('scale')).map((claim) => claim.metadata.uid),
      claims.map((claim) => claim.metadata.uid),
    );
  });

  test('0 leaves no pod', async () => {
    await apply(aSet('none', { spec: { replicas: 0 } }));
    await untilStatus('none', { observedGeneration: 1, replicas: 0 });
    assert.deepEqual(await podsOf('none'), []);
  });

  test('the scale subresource counts too', async () => {
    await apply(aSet('sub', { spec: { replicas: 1 } }));
    await untilPods('sub', 'sub-0');
    await wire.call('PATCH', `${sets('sub')}/scale`, { body: { spec: { replicas: 2 } }, type: MERGE });
    await untilPods('sub', 'sub-0', 'sub-1');
    const scale = await until(
      () => get(`${sets('sub')}/scale`),
      ({ status }) => status.replicas === 2,
    );
    assert.equal(scale.status.selector, 'set=sub');
  });
});

describe('claims', () => {
  const retention = (whenDeleted: string, whenScaled: string, replicas = 2) => ({
    spec: { replicas, persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } },
  });
  const owners = async (set: string) =>
    (await claimsOf(set)).map(({ metadata }) =>
      (metadata.ownerReferences ?? []).map(
        ({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`,
      ),
    );

  test('whenDeleted Retain: they stay when the set goes, and its pods go', async () => {
    await apply(aSet('retain', retention('Retain', 'Retain')));
    await untilPods('retain', 'retain-0', 'retain-1');
    await wire.call('DELETE', sets('retain'), { body: { propagationPolicy: 'Background' } });
    await untilPods('retain');
    assert.deepEqual(namesOf(await claimsOf('retain')), ['data-retain-0', 'data-retain-1']);
  });

  test('whenDeleted Delete: they belong to the set and go with it', async () => {
    await apply(aSet('delete', retention('Delete', 'Retain')));
    await untilPods('delete', 'delete-0', 'delete-1');
    await until(
      () => owners('delete'),
      (found) => found.join() === 'StatefulSet delete,StatefulSet delete',
    );
    await wire.call('DELETE', sets('delete'), { body: { propagationPolicy: 'Background' } });
    await until(
      () => claimsOf('delete'),
      (claims) => claims.length === 0,
    );
  });

  test('a change of mind reaches claims that are there', async () => {
    await apply(aSet('mind', retention('Retain', 'Retain')));
    await untilPods('mind', 'mind-0', 'mind-1');
    await apply(aSet('mind', retention('Delete', 'Retain')));
    await until(
      () => owners('mind'),
      (found) => found.join() === 'StatefulSet mind,StatefulSet mind',
    );
    await apply(aSet('mind', retention('Retain', 'Retain')));
    await until(
      () => owners('mind'),
      (found) => found.flat().length === 0,
    );
  });

  test('whenScaled Delete: those of ordinals beyond replicas go with their pods', async () => {
    await apply(aSet('shrink', retention('Retain', 'Delete', 3)));
    await untilPods('shrink', 'shrink-0', 'shrink-1', 'shrink-2');
    await apply(aSet('shrink', retention('Retain', 'Delete', 1)));
    await until(
      () => claimsOf('shrink'),
      (claims) => namesOf(claims).join() === 'data-shrink-0',
    );
    assert.deepEqual(await owners('shrink'), [[]]);
  });

  test('one that was deleted is made again together with its pod', async () => {
    await apply(aSet('gone', retention('Retain', 'Retain', 1)));
    await untilPods('gone', 'gone-0');
    const [before] = await claimsOf('gone');
    await deleteNow(core('persistentvolumeclaims', 'data-gone-0'));
    await deleteNow(core('pods', 'gone-0'));
    await until(
      () => claimsOf('gone'),
      ([claim]) => claim !== undefined && claim.metadata.uid !== before.metadata.uid,
    );
    await untilPods('gone', 'gone-0');
  });
});

test('a pod that a quota forbids is told in an Event, and is made when there is room', async () => {
  const quota = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'few' },
    spec: {
      hard: { 'count/statefulsets.apps': '100', pods: `${(await get(core('pods'))).items.length + 1}` },
    },
  };
  assert.equal((await wire.call('POST', core('resourcequotas'), { body: quota })).status, 201);
  // a real quota counts what is there before it admits more
  await until(
    () => get(core('resourcequotas', 'few')),
    ({ status }) => endpoint.real === false || status?.used?.pods !== undefined,
  );
  const set = await apply(aSet('quota', { spec: { replicas: 2 } }));
  const query = { fieldSelector: `involvedObject.uid=${set.metadata.uid}` };
  const [event] = await until(
    async () =>
      (await wire.call('GET', core('events'), { query })).body.items.filter(
        ({ reason }: { reason: string }) => reason === 'FailedCreate',
      ),
    (events: Anything[]) => events.length > 0,
  );
  assert.equal(event.type, 'Warning');
  assert.deepEqual([event.involvedObject.kind, event.involvedObject.name], ['StatefulSet', 'quota']);
  assert.match(
    event.message,
    /^create Pod quota-\d in StatefulSet quota failed error: pods "quota-\d" is forbidden: exceeded quota: few, requested: pods=1, used: pods=\d+, limited: pods=\d+$/,
  );
  await deleteNow(core('resourcequotas', 'few'));
  await until(
    () => podsOf('quota'),
    (pods) => pods.length === 2,
  );
});
