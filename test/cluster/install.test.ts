/** What `kubectl apply -k` left behind, as Knative and Kubernetes see it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubectl } from './kubectl.ts';
import { FUNCTION_PODS, NAMESPACE, suite } from './names.ts';
import { ready } from './operator.ts';
import { lightMysql } from './samples.ts';
import { story } from './story.ts';

test('applying the manifests again would change nothing', async () => {
  // exit code 1, and so an error, when there is a difference
  assert.equal(await kubectl('diff', '-k', suite().overlay), '');
});

test('the adapter may watch everything that the source names', async () => {
  await ready('apiserversource', 10);
  const source = JSON.parse(
    await kubectl('get', '-n', NAMESPACE, 'apiserversource', 'mysql-operator', '-o', 'json'),
  );
  const sufficient = source.status.conditions.find(
    ({ type }: { type: string }) => type === 'SufficientPermissions',
  );
  assert.equal(sufficient.status, 'True');
});

story(
  'the function runs as nobody, on a root that cannot be written, and can be reached from inside only',
  async (at) => {
    await at.apply(lightMysql('wakes'));
    await at.until('wakes', 'WaitingForPods', 60);
    const [pod] = JSON.parse(
      await kubectl('get', 'pods', '-n', NAMESPACE, '-l', FUNCTION_PODS, '-o', 'json'),
    ).items;
    const inside = (...command: string[]) =>
      kubectl('exec', '-n', NAMESPACE, pod.metadata.name, '-c', 'function', '--', 'node', '-e', ...command);
    assert.equal((await inside('console.log(process.getuid())')).trim(), '65532');
    const write =
      'try { fs.writeFileSync("/app/x", ""); console.log("written") } catch (e) { console.log(e.code) }';
    assert.equal((await inside(write)).trim(), 'EROFS');
    const url = await kubectl(
      'get',
      '-n',
      NAMESPACE,
      'ksvc',
      'mysql-operator',
      '-o',
      'jsonpath={.status.url}',
    );
    assert.equal(url, `http://mysql-operator.${NAMESPACE}.svc.cluster.local`);
  },
);

test('the function may not read the Secrets of a namespace at large, nor delete what it made', async () => {
  const account = `--as=system:serviceaccount:${NAMESPACE}:mysql-operator`;
  const may = (verb: string, resource: string) =>
    kubectl('auth', 'can-i', verb, resource, account, '--all-namespaces').then(
      () => true,
      () => false,
    );
  assert.equal(await may('get', 'secrets'), true);
  for (const [verb, resource] of [
    ['list', 'secrets'],
    ['delete', 'persistentvolumeclaims'],
    ['delete', 'statefulsets.apps'],
    ['create', 'pods'],
    ['create', 'pods/exec'],
    ['create', 'mysqls.example.com'],
    ['delete', 'mysqls.example.com'],
  ] as const) {
    assert.equal(await may(verb, resource), false, `${verb} ${resource}`);
  }
});
