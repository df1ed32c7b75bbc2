/** The installed operator as the stories find and disturb it. */
import { execFileSync, type StdioOptions } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { eventually, kubectl } from './kubectl.ts';
import { ADAPTER, FUNCTION_PODS, NAMESPACE } from './names.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Builds an image into the folder `work` and loads it. A tag of its own: Knative takes a changed image under an old tag for the old one. */
export function buildImage(work: string): string {
  const load = process.env.CLUSTER_LOAD;
  if (!load)
    throw new Error('say --image, or set CLUSTER_LOAD to the command that loads an archive into the cluster');
  const image = `dev.local/mysql-operator:test-${Date.now().toString(36)}`;
  const archive = join(work, 'image.tar');
  // standard output is for results
  const stdio = ['ignore', 2, 2] as const satisfies StdioOptions;
  const args = [join(ROOT, 'functions/image.ts'), '--tag', image, '--output', archive];
  execFileSync(process.execPath, args, { stdio, cwd: ROOT });
  execFileSync('sh', ['-c', `${load} "$1"`, 'sh', archive], { stdio });
  return image;
}

/** Writes an overlay of knative/base with this image; returns its folder. `folder` must lie two levels below the project's root. */
export function writeOverlay(folder: string, image: string): string {
  const at = image.lastIndexOf(':');
  mkdirSync(folder, { recursive: true });
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: ['../../../crds', '../../../knative/base'],
    images: [{ name: 'dev.local/mysql-operator', newName: image.slice(0, at), newTag: image.slice(at + 1) }],
    // the stories say when a resync runs: one in between would wake what they watch asleep
    patches: [
      {
        target: { kind: 'CronJob', name: 'mysql-operator-resync' },
        patch: '[{"op": "add", "path": "/spec/suspend", "value": true}]',
      },
    ],
  };
  writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization, undefined, 2));
  return folder;
}

/** As a user does it, and then until Knative says that it is there. */
export async function install(overlay: string): Promise<void> {
  await kubectl('apply', '-k', overlay);
  await ready('ksvc', 120);
  await ready('apiserversource', 120);
  await adapterPods(1);
}

export const ready = (resource: string, seconds: number): Promise<string> =>
  kubectl(
    'wait',
    '-n',
    NAMESPACE,
    `--for=condition=Ready`,
    `--timeout=${seconds}s`,
    resource,
    'mysql-operator',
  );

const podsOf = async (selector: string): Promise<string[]> =>
  (await kubectl('get', 'pods', '-n', NAMESPACE, '-l', selector, '-o', 'name')).split('\n').filter(Boolean);

export const functionPods = (): Promise<string[]> => podsOf(FUNCTION_PODS);

/** Until no pod of the function is there. */
export const asleep = (seconds = 180): Promise<true> =>
  eventually('the function is at zero', seconds, async () => (await functionPods()).length === 0);

/** Until an event would have to start a pod: those that are still there are ending and get no more requests. Half a minute earlier. */
export const atZero = (seconds = 180): Promise<true> =>
  eventually('no pod of the function takes requests', seconds, async () => {
    const columns = 'custom-columns=LEAVES:.metadata.deletionTimestamp';
    const leaves = await kubectl(
      'get',
      'pods',
      '-n',
      NAMESPACE,
      '-l',
      FUNCTION_PODS,
      '--no-headers',
      '-o',
      columns,
    );
    return !leaves.includes('<none>');
  });

/** Throws when a pod of the function is seen within these seconds. */
export async function staysAsleep(seconds: number): Promise<void> {
  for (const end = performance.now() + seconds * 1_000; performance.now() < end; ) {
    const pods = await functionPods();
    if (pods.length > 0) throw new Error(`${pods} woke although nothing happened`);
    await pause(1_000);
  }
}

export const adapterPodNames = (): Promise<string[]> => podsOf(ADAPTER);

async function adapterPods(count: number): Promise<void> {
  await eventually(`${count} adapter pods`, 120, async () => {
    const text = await kubectl('get', 'deployment', '-n', NAMESPACE, '-l', ADAPTER, '-o', 'json');
    const [deployment] = JSON.parse(text).items;
    const there = (await adapterPodNames()).length;
    return deployment && there === count && (deployment.status.readyReplicas ?? 0) === count;
  });
}

/** Takes the event source away, or brings it back. */
export async function scaleAdapter(count: 0 | 1): Promise<void> {
  await kubectl('scale', 'deployment', '-n', NAMESPACE, '-l', ADAPTER, `--replicas=${count}`);
  await adapterPods(count);
}

let runs = 0;

/** One run of the CronJob's own template, to its end; its log. */
export async function resyncNow(): Promise<string> {
  runs += 1;
  const job = `look-now-${process.pid}-${runs}`;
  await kubectl('create', 'job', '-n', NAMESPACE, job, '--from=cronjob/mysql-operator-resync');
  await kubectl('wait', '-n', NAMESPACE, '--for=condition=Complete', '--timeout=120s', `job/${job}`);
  const log = await kubectl('logs', '-n', NAMESPACE, `job/${job}`);
  await kubectl('delete', 'job', '-n', NAMESPACE, job);
  return log;
}
