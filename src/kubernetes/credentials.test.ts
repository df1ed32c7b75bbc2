import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, test } from 'node:test';
import { credentialsFor, inClusterCredentials, kubeconfigCredentials } from './credentials.ts';

const folder = mkdtempSync(join(tmpdir(), 'credentials-'));
after(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const kubeconfig = (server: string, { user = '{}', context = 'one' } = {}): string => `apiVersion: v1
kind: Config
clusters: [{ name: ${context}, cluster: { server: '${server}', certificate-authority-data: ${btoa('the ca')} } }]
users: [{ name: ${context}, user: ${user} }]
contexts: [{ name: ${context}, context: { cluster: ${context}, user: ${context} } }]
current-context: ${context}
`;

test('a pod finds its server, its CA and its token where Kubernetes mounts them', async () => {
  file('ca.crt', 'the ca');
  file('token', 'one\n');
  const { server, options } = inClusterCredentials('10.0.0.1', '6443', folder);
  assert.equal(server.href, 'https://10.0.0.1:6443/');
  const { ca, headers } = await options();
  assert.equal(String(ca), 'the ca');
  assert.deepEqual(headers, { authorization: 'Bearer one' });
});

test('a rotated token is seen after a minute', async (context) => {
  let now = 0;
  context.mock.method(performance, 'now', () => now);
  file('token', 'one');
  const { options } = inClusterCredentials('10.0.0.1', '443', folder);
  await options();
  file('token', 'two');
  assert.deepEqual((await options()).headers, { authorization: 'Bearer one' });
  now = 61_000;
  assert.deepEqual((await options()).headers, { authorization: 'Bearer two' });
});

test('an IPv6 address of the server is bracketed', () => {
  assert.equal(inClusterCredentials('fd00::1', '443', folder).server.hostname, '[fd00::1]');
});

test('a kubeconfig gives server, CA and client certificate, and no agent of its own', async () => {
  const user = `{ client-certificate-data: ${btoa('cert')}, client-key-data: ${btoa('key')} }`;
  const { server, options } = await kubeconfigCredentials(
    file('certificate', kubeconfig('https://10.0.0.1:6443', { user })),
  );
  assert.equal(server.href, 'https://10.0.0.1:6443/');
  const { ca, cert, key, agent } = await options();
  assert.deepEqual([ca, cert, key].map(String), ['the ca', 'cert', 'key']);
  assert.equal(agent, undefined);
});

test('an exec plugin is asked for its token', async () => {
  const token = JSON.stringify({
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: 'fetched' },
  });
  const user = `{ exec: { apiVersion: client.authentication.k8s.io/v1, command: echo, args: ['${token}'], interactiveMode: Never } }`;
  const { options } = await kubeconfigCredentials(file('exec', kubeconfig('https://10.0.0.1', { user })));
  assert.deepEqual((await options()).headers, { Authorization: 'Bearer fetched' });
});

test('plain HTTP gets no credentials', async () => {
  const { server, options } = await kubeconfigCredentials(
    file('plain', kubeconfig('http://127.0.0.1:1', { user: '{ token: secret }' })),
  );
  assert.equal(server.href, 'http://127.0.0.1:1/');
  assert.deepEqual(await options(), {});
});

test('of several files the first one tells the context, and the others are searched too', async () => {
  const first = file('first', 'apiVersion: v1\nkind: Config\ncurrent-context: two\n');
  const second = file('second', kubeconfig('http://127.0.0.1:2', { context: 'two' }));
  const { server } = await kubeconfigCredentials([first, second].join(delimiter));
  assert.equal(server.port, '2');
});

test('a kubeconfig that cannot be used is named, with the reason', async () => {
  await assert.rejects(
    kubeconfigCredentials(join(folder, 'absent')),
    /cannot use the kubeconfig .*absent: ENOENT/,
  );
  const empty = file('empty', 'apiVersion: v1\nkind: Config\n');
  await assert.rejects(
    kubeconfigCredentials(empty),
    /cannot use the kubeconfig .*empty: it has no current context/,
  );
  await assert.rejects(
    kubeconfigCredentials(file('odd', kubeconfig('nowhere'))),
    /cannot use the kubeconfig .*odd: Invalid URL/,
  );
});

test('a kubeconfig that is named wins over the account of the pod', async () => {
  const path = file('named', kubeconfig('http://127.0.0.1:3'));
  const { server } = await credentialsFor({
    kubeconfig: path,
    apiHost: '10.0.0.1',
    apiPort: '443',
    accountFolder: undefined,
  });
  assert.equal(server.port, '3');
});
