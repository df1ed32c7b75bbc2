/**
 * A Kubernetes API that a test file runs against: the embedded one, or the real one that CONTRACT_KUBECONFIG names. The file does not
 * know which: that is what makes the embedded one honest.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { Permanent } from '../src/errors.ts';
import { kubeconfigCredentials } from '../src/kubernetes/credentials.ts';
import { type Request, type Send, sender } from '../src/kubernetes/request.ts';
import { kubeconfigFor, serveApi } from '../src/local/api/server.ts';
import { EmbeddedCluster } from '../src/local/cluster.ts';

export interface Endpoint extends AsyncDisposable {
  /** Whether it is a real API server. */
  readonly real: boolean;
  readonly kubeconfig: string;
  /** A namespace of this test's own, gone afterwards. */
  readonly namespace: string;
  readonly send: (request: Request) => Promise<unknown>;
  /** Standard output and error, whatever the exit code. Rejects when there is no kubectl. */
  readonly kubectl: (...args: string[]) => Promise<{ readonly code: number; readonly output: string }>;
}

const DEADLINE = 30_000;
const CRD = new URL('../crds/mysql.yaml', import.meta.url);

/** With the CRD installed and served. */
export async function anEndpoint(): Promise<Endpoint> {
  await using cleanup = new AsyncDisposableStack();
  const real = process.env.CONTRACT_KUBECONFIG;
  const kubeconfig = real || (await embedded(cleanup));
  const plain: Send = sender(await kubeconfigCredentials(kubeconfig));
  const send = (request: Request) => plain(request, AbortSignal.timeout(DEADLINE));
  const namespace = `contract-${randomBytes(4).toString('hex')}`;
  await send({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } });
  cleanup.defer(async () => void (await send({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` })));
  await installCrd(send, namespace);
  const resources = cleanup.move();
  return {
    real: kubeconfig === real,
    kubeconfig,
    namespace,
    send,
    kubectl: (...args) => kubectl(['--kubeconfig', kubeconfig, '--namespace', namespace, ...args]),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

async function embedded(cleanup: AsyncDisposableStack): Promise<string> {
  const cluster = new EmbeddedCluster();
  const api = await serveApi(cluster.api);
  cleanup.defer(() => api.close());
  cleanup.defer(cluster.run());
  const folder = mkdtempSync(join(tmpdir(), 'endpoint-'));
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'kubeconfig');
  writeFileSync(file, kubeconfigFor(api.url));
  return file;
}

async function installCrd(send: Endpoint['send'], namespace: string): Promise<void> {
  const crd: unknown = parse(readFileSync(CRD, 'utf8'), { merge: true });
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/mysqls.example.com';
  const query = { fieldManager: 'kubectl', force: 'true' };
  await send({ method: 'PATCH', path, query, body: crd, contentType: 'application/apply-patch+yaml' });
  const started = performance.now();
  for (;;) {
    try {
      await send({ method: 'GET', path: `/apis/example.com/v1alpha1/namespaces/${namespace}/mysqls` });
      return;
    } catch (error) {
      // 404 until it is established
      if (!(error instanceof Permanent && error.code === 404) || performance.now() - started > DEADLINE)
        throw error;
      await pause(100);
    }
  }
}

async function kubectl(args: readonly string[]): Promise<{ code: number; output: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)('kubectl', args, { timeout: DEADLINE });
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
    if (typeof code !== 'number') throw error;
    return { code, output: stdout + stderr };
  }
}
