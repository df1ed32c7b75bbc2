/**
 * How to reach the API server and who we are there. In a pod two mounted files say it all, and reading them keeps a cold start short;
 * everything else (kubeconfigs, exec plugins, client certificates) is the official client's job, loaded only then.
 */
import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';

export interface Credentials {
  /** `https://host:port`, without a path. */
  readonly server: URL;
  /** TLS and authorization for one request; asked anew each time because tokens rotate. */
  readonly options: () => Promise<RequestOptions>;
}

const MOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Kubelet renews the token long before it expires (at 80 % of an hour); a minute of memory is safe and saves a read per request. */
const TOKEN_MEMORY_MS = 60_000;

/** From the service account's mount. `host` and `port` are KUBERNETES_SERVICE_HOST and _PORT. Throws when the files are absent. */
export function inClusterCredentials(host: string, port: string): Credentials {
  const ca = readFileSync(`${MOUNT}/ca.crt`);
  let token = '';
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    options: async () => {
      if (performance.now() - readAt > TOKEN_MEMORY_MS) {
        token = readFileSync(`${MOUNT}/token`, 'utf8').trim();
        readAt = performance.now();
      }
      return { ca, headers: { authorization: `Bearer ${token}` } };
    },
  };
}

/** From a kubeconfig file (undefined: the usual places). Throws an Error that names the file when it cannot be used. */
export async function kubeconfigCredentials(file: string | undefined): Promise<Credentials> {
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  const config = new KubeConfig();
  try {
    if (file === undefined) config.loadFromDefault();
    else config.loadFromFile(file);
  } catch (cause) {
    throw new Error(`cannot read the kubeconfig ${file ?? '(default)'}: ${(cause as Error).message}`, {
      cause,
    });
  }
  const cluster = config.getCurrentCluster();
  if (!cluster)
    throw new Error(
      `the kubeconfig ${file ?? '(default)'} has no current context: set one, or pass another file`,
    );
  return {
    server: new URL(cluster.server),
    options: async () => {
      const options: RequestOptions = {};
      await config.applyToHTTPSOptions(options);
      // its agent would be a new one for every request, and so a new connection: ours is kept
      delete options.agent;
      return options;
    },
  };
}
