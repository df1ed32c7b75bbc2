/**
 * kubectl as people use it, against the API alone: no operator acts on the Mysqls here (start.test.ts has the whole loop). The same file
 * runs against the embedded API and, with CONTRACT_KUBECONFIG, against a real one.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { anEndpoint, type Endpoint } from './endpoint.ts';

const found = await promisify(execFile)('kubectl', ['version', '--client']).then(
  () => true,
  () => false,
);

describe('kubectl', { skip: found ? false : 'there is no kubectl on the PATH' }, () => {
  let endpoint: Endpoint;
  const folder = mkdtempSync(join(tmpdir(), 'kubectl-'));
  before(async () => {
    endpoint = await anEndpoint();
    await told('apply', '-f', manifest('mysql', MYSQL));
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await endpoint?.[Symbol.asyncDispose]();
  });

  const MYSQL = {
    apiVersion: 'example.com/v1alpha1',
    kind: 'Mysql',
    metadata: { name: 'db', labels: { tier: 'data' } },
    spec: { size: 3, image: 'mysql:8.4' },
  };
  const service = (ports: object[], labels: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'front', labels },
    spec: { selector: { app: 'front' }, ports },
  });
  const manifest = (name: string, object: object): string => {
    const file = join(folder, `${name}.json`);
    writeFileSync(file, JSON.stringify(object));
    return file;
  };
  /** What it printed. */
  async function told(...args: string[]): Promise<string> {
    const { code, output } = await endpoint.kubectl(...args);
    assert.equal(code, 0, `kubectl ${args.join(' ')}: ${output}`);
    return output;
  }
  async function refused(...args: string[]): Promise<string> {
    const { code, output } = await endpoint.kubectl(...args);
    assert.notEqual(code, 0, output);
    return output;
  }

  test('applies: created, unchanged, configured, and what was taken out of the file is gone', async () => {
    const both = [
      { name: 'one', port: 1 },
      { name: 'two', port: 2 },
    ];
    const apply = (object: object) => told('apply', '-f', manifest('service', object));
    assert.match(await apply(service(both, { a: '1', b: '2' })), /service\/front created/);
    assert.match(await apply(service(both, { a: '1', b: '2' })), /service\/front unchanged/);
    await told('label', 'service', 'front', 'theirs=3');
    assert.match(await apply(service(both.slice(1), { a: '1' })), /service\/front configured/);
    const path = '{.spec.ports[*].name} {.metadata.labels}';
    assert.equal(
      await told('get', 'service', 'front', '-o', `jsonpath=${path}`),
      'two {"a":"1","theirs":"3"}',
    );
  });

  test('applies on the server: a conflict names the other manager and the field, and can be forced', async () => {
    const file = (data: string) =>
      manifest('cm', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'shared' },
        data: { key: data },
      });
    const apply = ['apply', '--server-side', '-f'];
    assert.match(
      await told(...apply, file('1'), '--field-manager=theirs'),
      /configmap\/shared serverside-applied/,
    );
    assert.match(
      await refused(...apply, file('2'), '--field-manager=ours'),
      /Apply failed with 1 conflict: conflict with "theirs": \.data\.key/,
    );
    await told(...apply, file('2'), '--field-manager=ours', '--force-conflicts');
    const managers = '{.metadata.managedFields[*].manager}';
    assert.equal(
      await told('get', 'cm', 'shared', '-o', `jsonpath=${managers}`, '--show-managed-fields'),
      'ours',
    );
  });

  test('moves from its own way of applying to the server’s without a conflict', async () => {
    const file = manifest('moved', { ...MYSQL, metadata: { name: 'moved' } });
    await told('apply', '-f', file);
    assert.match(
      await told('apply', '--server-side', '-f', file),
      /mysql\.example\.com\/moved serverside-applied/,
    );
    await told('delete', 'mysql', 'moved');
  });

  test('shows what an apply would change and changes nothing', async () => {
    const larger = manifest('larger', { ...MYSQL, spec: { ...MYSQL.spec, size: 5 } });
    assert.match(await refused('diff', '-f', larger), /^-\s+size: 3\n^\+\s+size: 5/m);
    assert.match(await told('apply', '--dry-run=server', '-f', larger), /db configured \(server dry run\)/);
    assert.equal(await told('get', 'mysql', 'db', '-o', 'jsonpath={.spec.size}'), '3');
  });

  test('finds a misspelled field before anything is written', async () => {
    const file = manifest('typo', { ...MYSQL, metadata: { name: 'typo' }, spec: { ...MYSQL.spec, sise: 5 } });
    assert.match(await refused('apply', '-f', file), /unknown field "spec\.sise"/);
    assert.match(await refused('get', 'mysql', 'typo'), /mysqls\.example\.com "typo" not found/);
  });

  test('lists by name, short name, category, label and field, with the columns of the kind', async () => {
    assert.match(await told('get', 'mysql'), /^NAME +SIZE +READY +PRIMARY +STATE +AGE\ndb +3 +/);
    assert.match(
      await told('get', 'mysqls.example.com', '-o', 'wide'),
      /^NAME +SIZE .* IMAGE +AGE\ndb .*mysql:8\.4/,
    );
    assert.match(await told('get', 'all'), /mysql\.example\.com\/db/);
    assert.match(await told('get', 'mysql', '-l', 'tier=data', '-o', 'name'), /^mysql\.example\.com\/db\n$/);
    assert.match(await told('get', 'mysql', '-l', 'tier!=data'), /^No resources found/);
    assert.match(await told('get', 'mysql', '--field-selector=metadata.name=db', '--no-headers'), /^db /);
    assert.match(await told('api-resources', '--api-group=example.com'), /mysqls .* true +Mysql/);
  });

  test('watches: each change is a line', async () => {
    const args = ['--kubeconfig', endpoint.kubeconfig, '--namespace', endpoint.namespace];
    const child = spawn('kubectl', [...args, 'get', 'mysql', '--watch']);
    const ended = once(child, 'close');
    const sizes: string[] = [];
    try {
      for await (const line of createInterface({ input: child.stdout })) {
        const [name, size = ''] = line.split(/\s+/);
        if (name !== 'watched' && name !== 'db') continue;
        sizes.push(`${name} ${size}`);
        if (sizes.length === 1)
          await told('apply', '-f', manifest('watched', { ...MYSQL, metadata: { name: 'watched' } }));
        if (sizes.length === 2) await told('scale', 'mysql', 'watched', '--replicas=1');
        if (sizes.length === 3) break;
      }
    } finally {
      child.kill();
      await ended;
    }
    assert.deepEqual(sizes, ['db 3', 'watched 3', 'watched 1']);
    await told('delete', 'mysql', 'watched');
  });

  test('describes, edits, labels, patches and scales', async () => {
    assert.match(
      await told('describe', 'mysql', 'db'),
      /Kind: +Mysql[\s\S]*Image: +mysql:8\.4[\s\S]*Events:/,
    );
    process.env.KUBE_EDITOR = 'sed -i s/tier:.data/tier:\\ other/';
    assert.match(await told('edit', 'mysql', 'db'), /mysql\.example\.com\/db edited/);
    await told('annotate', 'mysql', 'db', 'note=x');
    await told('patch', 'mysql', 'db', '--type=merge', '-p', '{"spec":{"primary":1}}');
    await told('scale', 'mysql', 'db', '--replicas=5', '--current-replicas=3');
    assert.match(
      await refused('scale', 'mysql', 'db', '--replicas=1', '--current-replicas=3'),
      /Expected replicas to be 3, was 5/,
    );
    const path = '{.metadata.labels.tier} {.metadata.annotations.note} {.spec.primary} {.spec.size}';
    assert.equal(await told('get', 'mysql', 'db', '-o', `jsonpath=${path}`), 'other x 1 5');
  });

  test('waits for a condition that comes, and for an object to go', async () => {
    const name = 'waited';
    await told(
      'apply',
      '-f',
      manifest(name, { ...MYSQL, metadata: { name, finalizers: ['example.com/hold'] } }),
    );
    const status = { conditions: [condition('Ready', 'True')] };
    const ready = told('wait', '--for=condition=Ready', `mysql/${name}`, '--timeout=20s');
    await told(
      'patch',
      'mysql',
      name,
      '--subresource=status',
      '--type=merge',
      '-p',
      JSON.stringify({ status }),
    );
    assert.match(await ready, /waited condition met/);
    await told('delete', 'mysql', name, '--wait=false');
    const gone = told('wait', '--for=delete', `mysql/${name}`, '--timeout=20s');
    await told(
      'patch',
      'mysql',
      name,
      '--type=json',
      '-p',
      '[{"op":"remove","path":"/metadata/finalizers"}]',
    );
    await gone;
  });

  const condition = (type: string, state: string) => ({
    type,
    status: state,
    reason: 'Tested',
    message: 'as it is',
    lastTransitionTime: '2026-01-02T03:04:05Z',
    observedGeneration: 1,
  });

  test('explains fields down to their types', async () => {
    assert.match(await told('explain', 'mysql.spec.storage.size'), /FIELD: size[\s\S]*DESCRIPTION:\n {4}\S/);
    assert.match(await told('explain', 'mysql', '--recursive'), /storageClassName\t<string>/);
  });

  test('deletes what was applied, by file and by label, and waits until it is gone', async () => {
    await told(
      'apply',
      '-f',
      manifest('gone', { ...MYSQL, metadata: { name: 'gone', labels: { go: 'now' } } }),
    );
    assert.match(
      await told('delete', 'mysql', 'gone', '--dry-run=server'),
      /"gone" deleted \(server dry run\)/,
    );
    assert.match(await told('delete', 'mysql', '-l', 'go=now'), /"gone" deleted/);
    assert.match(await told('delete', '-f', join(folder, 'service.json')), /"front" deleted/);
    assert.match(await refused('get', 'mysql/gone', 'service/front'), /not found[\s\S]*not found/);
  });
});
