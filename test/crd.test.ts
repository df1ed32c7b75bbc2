/** What the API server itself says to a Mysql, before the function hears of it. Runs on a real one with CONTRACT_KUBECONFIG. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { Permanent } from '../src/errors.ts';
import type { Mysql } from '../src/resource/mysql.ts';
import { anEndpoint, type Endpoint } from './endpoint.ts';

let api: Endpoint;
before(async () => {
  api = await anEndpoint();
});
after(() => api?.[Symbol.asyncDispose]());

let count = 0;
const freshName = (): string => {
  count += 1;
  return `m-${count}`;
};
const aMysql = (spec: Record<string, unknown> = {}, name = freshName()) => ({
  apiVersion: 'example.com/v1alpha1',
  kind: 'Mysql',
  metadata: { name, annotations: {} },
  spec: { size: 3, image: 'mysql:8.4', ...spec },
});
type Draft = ReturnType<typeof aMysql>;

const collection = () => `/apis/example.com/v1alpha1/namespaces/${api.namespace}/mysqls`;
const create = async (mysql: unknown) => {
  const query = { fieldManager: 'kubectl', fieldValidation: 'Strict' };
  return (await api.send({ method: 'POST', path: collection(), query, body: mysql })) as Mysql;
};
const change = async (mysql: Mysql | Draft, spec: unknown) => {
  const path = `${collection()}/${mysql.metadata.name}`;
  const contentType = 'application/merge-patch+json';
  return (await api.send({ method: 'PATCH', path, body: { spec }, contentType })) as Mysql;
};

/** Refused for good, and in words that hold each of these. */
async function assertRefused(order: Promise<unknown>, ...words: RegExp[]) {
  await assert.rejects(order, (error) => {
    assert.ok(error instanceof Permanent, String(error));
    for (const word of words) assert.match(error.message, word);
    return true;
  });
}

describe('a name', () => {
  const wrong: [string, RegExp][] = [
    ['m'.repeat(41), /at most 40 characters/],
    ['m'.repeat(64), /at most 40 characters/],
    ['1st', /must be a DNS-1035 label/],
    ['a.b', /must be a DNS-1035 label/],
  ];
  for (const [name, word] of wrong) {
    test(`${name} is refused, with the reason`, () => assertRefused(create(aMysql({}, name)), word));
  }
  for (const name of ['m'.repeat(40), 'a', 'orders-2']) {
    test(`${name} is taken`, async () => {
      assert.equal((await create(aMysql({}, name))).metadata.name, name);
    });
  }
});

describe('a size', () => {
  const wrong: [unknown, RegExp][] = [
    [-1, /spec\.size: Invalid value: -1.*greater than or equal to 0/],
    [10, /spec\.size: Invalid value: 10.*less than or equal to 9/],
    [1_000, /less than or equal to 9/],
    ['3', /spec\.size.*must be of type integer: "string"/],
    [2.5, /spec\.size.*must be of type integer/],
    [undefined, /spec\.size: Required value/],
  ];
  for (const [size, word] of wrong) {
    test(`of ${JSON.stringify(size)} is refused`, () => assertRefused(create(aMysql({ size })), word));
  }
  for (const size of [0, 1, 2, 9]) {
    test(`of ${size} is taken`, async () => assert.equal((await create(aMysql({ size }))).spec.size, size));
  }
  test('is refused by the scale subresource too when it is above 9', async () => {
    const { metadata } = await create(aMysql());
    const path = `${collection()}/${metadata.name}/scale`;
    const contentType = 'application/merge-patch+json';
    const scale = (replicas: number) =>
      api.send({ method: 'PATCH', path, body: { spec: { replicas } }, contentType });
    await assertRefused(scale(10), /spec\.size.*less than or equal to 9/);
    await scale(5);
    const now = (await api.send({ method: 'GET', path: `${collection()}/${metadata.name}` })) as Mysql;
    assert.equal(now.spec.size, 5);
  });
});

test('an image that is empty or absent is refused', async () => {
  await assertRefused(create(aMysql({ image: '' })), /spec\.image.*at least 1 chars long/);
  await assertRefused(create(aMysql({ image: undefined })), /spec\.image: Required value/);
});

test('a Mysql without spec is refused', () =>
  assertRefused(create({ ...aMysql(), spec: undefined }), /spec: Required value/));

test('an unknown field is refused by name, or left out for clients that do not ask for strictness', async () => {
  await assertRefused(create(aMysql({ siez: 3 })), /unknown field "spec\.siez"/);
  const mysql = aMysql({ siez: 3 });
  const taken = (await api.send({ method: 'POST', path: collection(), body: mysql })) as Mysql;
  assert.deepEqual(Object.keys(taken.spec).sort(), ['image', 'paused', 'size', 'storage']);
});

describe('storage', () => {
  const withStorage = (storage: Record<string, unknown>) => create(aMysql({ storage }));

  test('has defaults: 10Gi, kept when the Mysql is deleted', async () => {
    assert.deepEqual((await create(aMysql())).spec.storage, { size: '10Gi', whenDeleted: 'Retain' });
  });
  test('may grow and may not shrink, compared as quantities', async () => {
    const mysql = await withStorage({ size: '1Gi' });
    await change(mysql, { storage: { size: '1024Mi' } });
    await change(mysql, { storage: { size: '2Gi' } });
    await assertRefused(
      change(mysql, { storage: { size: '2047Mi' } }),
      /spec\.storage\.size.*may not shrink/,
    );
    // and not by the default coming back either
    await change(mysql, { storage: { size: '11Gi' } });
    await assertRefused(change(mysql, { storage: null }), /may not shrink/);
  });
  test('cannot move to another StorageClass', async () => {
    const mysql = await withStorage({ storageClassName: 'fast' });
    const word = /storageClassName cannot be changed/;
    await assertRefused(change(mysql, { storage: { storageClassName: 'slow' } }), word);
    await assertRefused(change(mysql, { storage: { storageClassName: null } }), word);
    await assertRefused(change(await create(aMysql()), { storage: { storageClassName: 'fast' } }), word);
  });
  test('must be a quantity', () => assertRefused(withStorage({ size: 'big' }), /spec\.storage\.size/));
  test('is kept or deleted, nothing else', () =>
    assertRefused(withStorage({ whenDeleted: 'Perhaps' }), /supported values: "Retain", "Delete"/));
});

test('a preferred primary must be one of the members', async () => {
  await assertRefused(create(aMysql({ primary: 3 })), /spec\.primary must be below spec\.size/);
  const mysql = await create(aMysql({ primary: 2 }));
  await assertRefused(change(mysql, { size: 2 }), /spec\.primary must be below spec\.size/);
  // hibernation keeps the wish
  assert.equal((await change(mysql, { size: 0 })).spec.primary, 2);
});

for (const sample of ['mysql-sample', 'mysql-seed']) {
  test(`${sample}.yaml is taken unchanged`, async () => {
    const text = readFileSync(new URL(`../crds/samples/${sample}.yaml`, import.meta.url), 'utf8');
    const wanted = parse(text) as Mysql;
    const made = await create(wanted);
    assert.equal(made.spec.image, wanted.spec.image);
    assert.equal(made.spec.size, 3);
  });
}

test('everything that the reference lists is taken, and nothing of it is lost', async () => {
  const spec = {
    size: 1,
    image: 'mysql:8.4',
    storage: { size: '20Gi', storageClassName: 'fast', whenDeleted: 'Delete' },
    resources: { requests: { cpu: '500m', memory: '1Gi' }, limits: { memory: '2Gi' } },
    config: { max_connections: '500' },
    credentialsSecret: 'mine',
    paused: true,
    primary: 0,
    podTemplate: {
      labels: { team: 'shop' },
      annotations: { note: 'x' },
      nodeSelector: { disk: 'ssd' },
      affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
      tolerations: [{ key: 'db', operator: 'Exists' }],
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: {} },
      ],
      priorityClassName: 'high',
      imagePullSecrets: [{ name: 'registry' }],
      serviceAccountName: 'db',
    },
  };
  assert.deepEqual((await create(aMysql(spec))).spec, spec);
});

describe('kubectl', { skip: withoutKubectl() }, () => {
  test('explains every field of the spec', async () => {
    const { code, output } = await api.kubectl('explain', 'mysql.spec', '--recursive=false');
    assert.equal(code, 0, output);
    for (const field of ['size', 'image', 'storage', 'config', 'paused', 'podTemplate']) {
      assert.match(output, new RegExp(`^ +${field}\\s+<`, 'm'), output);
    }
    const size = await api.kubectl('explain', 'mysql.spec.size');
    assert.match(size.output, /Number of members, 0 to 9/);
    assert.doesNotMatch(output, /<no description>|<empty>/);
  });

  test('shows the printer columns and applies the sample unchanged', async () => {
    const file = new URL('../crds/samples/mysql-seed.yaml', import.meta.url).pathname;
    assert.match((await api.kubectl('apply', '-f', file)).output, /mysql\.example\.com\/mysql-seed/);
    assert.match(
      (await api.kubectl('apply', '-f', file)).output,
      /mysql-seed unchanged|mysql-seed configured/,
    );
    const { output } = await api.kubectl('get', 'mysql', 'mysql-seed', '-o', 'wide');
    assert.match(output, /^NAME +SIZE +READY +PRIMARY +STATE +IMAGE +AGE$/m);
    assert.match(output, /^mysql-seed +3 +.*mysql:5\.7 /m);
  });

  test('a refusal reads as a sentence', async () => {
    const { code, output } = await api.kubectl('scale', 'mysql', 'mysql-seed', '--replicas', '12');
    assert.equal(code, 1);
    assert.match(
      output,
      /spec\.size: Invalid value: 12: spec\.size in body should be less than or equal to 9/,
    );
  });
});

function withoutKubectl(): string | false {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'there is no kubectl on the PATH';
  }
}
