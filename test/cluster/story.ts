/** One story on the cluster: a namespace of its own, gone afterwards, and everything worth knowing when it fails. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Mysql } from '../../src/resource/mysql.ts';
import { type PassLine, passesIn } from './function-log.ts';
import { eventually, kubectl, kubectlWith } from './kubectl.ts';
import { ADAPTER, FUNCTION_PODS, NAMESPACE, suite, TEST_LABEL } from './names.ts';
import { adapterPodNames } from './operator.ts';

// biome-ignore lint/suspicious/noExplicitAny: objects of any kind, looked into by assertions only
type Anything = any;

export interface Story {
  readonly namespace: string;
  /** kubectl in this story's namespace. */
  readonly kubectl: (...args: readonly string[]) => Promise<string>;
  readonly apply: (...objects: readonly object[]) => Promise<void>;
  /** Undefined when there is none. */
  readonly get: (resource: string, name: string) => Promise<Anything>;
  readonly list: (resource: string, selector?: string) => Promise<Anything[]>;
  /** The Mysql once its condition Ready has this reason for its present generation (and its message matches). */
  readonly until: (name: string, state: string, seconds: number, message?: RegExp) => Promise<Mysql>;
  /** Passes of the function over this namespace's Mysqls so far. */
  readonly passes: () => readonly PassLine[];
}

const MINUTE = 60_000;

interface Terms {
  /** How long it may take (10). */
  readonly minutes?: number;
  /** Why it cannot be told here. */
  readonly skip?: string | undefined;
}

export function story(
  name: string,
  tell: (story: Story) => Promise<void>,
  { minutes = 10, skip }: Terms = {},
): void {
  test(name, { timeout: minutes * MINUTE, skip: skip ?? false }, async () => {
    const namespace = `story-${randomBytes(4).toString('hex')}`;
    await kubectlWith(
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: namespace, labels: { [TEST_LABEL]: '' } },
      }),
      'apply',
      '-f',
      '-',
    );
    await sourceKnows(namespace);
    try {
      await tell(storyIn(namespace));
    } catch (error) {
      await dump(name, namespace);
      throw error;
    } finally {
      // the namespace itself goes when all stories are told: the adapter is rolled whenever one goes, and the next story's events with it
      const all = 'mysql,pod,resourcequota,persistentvolumeclaim';
      await kubectl('delete', all, '-n', namespace, '--all', '--wait=false', '--ignore-not-found');
    }
  });
}

/** measured: every namespace that comes or goes rolls the adapter, also where it watches all of them; events of that second are lost. */
export async function sourceKnows(namespace: string): Promise<void> {
  await eventually('the source has seen the namespace', 60, async () => {
    const path = '{.status.namespaces}';
    const known = await kubectl(
      'get',
      'apiserversource',
      '-n',
      NAMESPACE,
      'mysql-operator',
      '-o',
      `jsonpath=${path}`,
    );
    return known.includes(`"${namespace}"`);
  });
  await kubectl('rollout', 'status', 'deployment', '-n', NAMESPACE, '-l', ADAPTER, '--timeout=60s');
  await eventually('one adapter runs', 60, async () => (await adapterPodNames()).length === 1);
}

function storyIn(namespace: string): Story {
  const here = (...args: readonly string[]) => kubectl('-n', namespace, ...args);
  const get: Story['get'] = async (resource, name) => {
    const text = await here('get', resource, name, '--ignore-not-found', '-o', 'json');
    return text ? JSON.parse(text) : undefined;
  };
  return {
    namespace,
    kubectl: here,
    apply: async (...objects) => {
      const list = { apiVersion: 'v1', kind: 'List', items: objects };
      await kubectlWith(JSON.stringify(list), '-n', namespace, 'apply', '-f', '-');
    },
    get,
    list: async (resource, selector = '') =>
      JSON.parse(await here('get', resource, '-l', selector, '-o', 'json')).items,
    until: (name, state, seconds, message = /./) => {
      let last = 'no status yet';
      return eventually(`${name} is ${state}`, seconds, async () => {
        const mysql = (await get('mysql', name)) as Mysql | undefined;
        const ready = mysql?.status?.conditions?.find(({ type }) => type === 'Ready');
        last = `${ready?.reason}: ${ready?.message}`;
        const current = mysql && mysql.status?.observedGeneration === mysql.metadata.generation;
        return current && ready?.reason === state && message.test(ready.message) && mysql;
      }).catch((error: Error) => {
        throw new Error(`${error.message}; it says ${last}`, { cause: error.cause });
      });
    },
    passes: () => passesIn(suite().log, namespace),
  };
}

const worthKnowing: readonly (readonly string[])[] = [
  ['get', 'mysql', '-o', 'yaml'],
  ['get', 'all,pvc,configmap,pdb', '-o', 'wide'],
  ['describe', 'pods'],
  ['get', 'events', '--sort-by=.lastTimestamp'],
];

/** Into files, and the most telling of it onto the screen. */
async function dump(name: string, namespace: string): Promise<void> {
  const folder = join(suite().dumps, name.replaceAll(/\W+/g, '-').slice(0, 60));
  mkdirSync(folder, { recursive: true });
  const save = (file: string, text: string) => writeFileSync(join(folder, file), text);
  const look = (...args: readonly string[]) => kubectl(...args).catch(String);
  for (const args of worthKnowing) {
    save(`${args[0]}-${args[1]?.split(',')[0]}.txt`, await look('-n', namespace, ...args));
  }
  const pods = (await look('-n', namespace, 'get', 'pods', '-o', 'name')).split('\n').filter(Boolean);
  for (const pod of pods.slice(0, 10)) {
    save(`log-${pod.replace('pod/', '')}.txt`, await look('-n', namespace, 'logs', pod, '--tail=300'));
  }
  save('operator.txt', await look('-n', NAMESPACE, 'get', 'ksvc,apiserversource,pods,jobs', '-o', 'wide'));
  save('operator-pods.txt', await look('-n', NAMESPACE, 'describe', 'pods', '-l', FUNCTION_PODS));
  const passes = passesIn(suite().log, namespace).map((pass) => JSON.stringify(pass));
  save('passes.txt', passes.join('\n'));
  console.log(`--- ${name} failed; everything is in ${folder}`);
  console.log(await look('-n', namespace, 'get', 'mysql,pods', '-o', 'wide'));
  console.log(passes.slice(-15).join('\n'));
}
