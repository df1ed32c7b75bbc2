/**
 * How to reach the API server and who we are there. In a pod two mounted files say it all, and reading them keeps a cold start short;
 * everything else (kubeconfigs, exec plugins, client certificates) is the official client's job, loaded only then.
 */
import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { delimiter } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { Permanent } from '../errors.ts';

/** What the environment says about the API server. */
export interface ApiAccess {
  /** Files as KUBECONFIG lists them; undefined in a pod, or for the usual places. */
  readonly kubeconfig: string | undefined;
  /** KUBERNETES_SERVICE_HOST and _PORT, set in every pod. */
  readonly apiHost: string | undefined;
  readonly apiPort: string;
  /** Where the service account is mounted; undefined: the usual place. */
  readonly accountFolder?: string | undefined;
}

export interface Credentials {
  /** `https://host:port`, without a path. */
  readonly server: URL;
  /** TLS and authorization for one request; asked anew each time because tokens rotate. */
  readonly options: () => Promise<RequestOptions>;
}

/** A kubeconfig that is named wins over the pod's own account. Throws Permanent when it cannot be used. */
export async function credentialsFor({
  kubeconfig,
  apiHost,
  apiPort,
  accountFolder,
}: ApiAccess): Promise<Credentials> {
  return apiHost && kubeconfig === undefined
    ? inClusterCredentials(apiHost, apiPort, accountFolder)
    : kubeconfigCredentials(kubeconfig);
}

const MOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Kubelet renews the token long before it expires (at 80 % of an hour); a minute of memory is safe and saves a read per request. */
const TOKEN_MEMORY_MS = 60_000;

/** From the service account's mount. Throws when its files are absent. */
export function inClusterCredentials(host: string, port: string, mount: string = MOUNT): Credentials {
  const ca = readFileSync(`${mount}/ca.crt`);
  let token = '';
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    options: async () => {
      if (performance.now() - readAt > TOKEN_MEMORY_MS) {
        token = readFileSync(`${mount}/token`, 'utf8').trim();
        readAt = performance.now();
      }
      return { ca, headers: { authorization: `Bearer ${token}` } };
    },
  };
}

/**
 * From kubeconfig files as KUBECONFIG lists them, the first one's current context (undefined: the usual places). Throws a Permanent that
 * names the files when they cannot be used.
 */
export async function kubeconfigCredentials(files: string | undefined): Promise<Credentials> {
  // only outside a pod: it costs a quarter of a second
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  const config = new KubeConfig();
  try {
    if (files === undefined) config.loadFromDefault();
    for (const [index, file] of (files?.split(delimiter) ?? []).entries()) {
      const one = index === 0 ? config : new KubeConfig();
      one.loadFromFile(file);
      if (index > 0) config.mergeConfig(one, true);
    }
    const cluster = config.getCurrentCluster();
    if (!cluster) throw new Error('it has no current context: set one, or pass another file');
    const server = new URL(cluster.server);
    // plain HTTP is for a server on this machine; credentials are not sent over it
    if (server.protocol === 'http:') return { server, options: async () => ({}) };
    return { server, options: () => securedBy(config, cluster.proxyUrl !== undefined) };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Permanent(`cannot use the kubeconfig ${files ?? '(default)'}: ${why}`, { cause });
  }
}

async function securedBy(config: KubeConfig, proxied: boolean): Promise<RequestOptions> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  // its agent is needed for proxies only; ours keeps connections alive
  if (!proxied) delete options.agent;
  return options;
}
