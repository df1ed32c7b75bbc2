/**
 * An API server for the benchmark in a process of its own, over TLS, so that its work is not counted as the function's. Speaks with its
 * parent over IPC: `{ ready, port }` once it listens, then answers `Command`s.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { handlerFor } from '../../src/local/api/server.ts';
import { EmbeddedCluster } from '../../src/local/cluster.ts';
import { addSettled } from '../function/many.ts';

export type Command =
  /** So many hibernated Mysqls `n-0/b-0`, `n-1/b-1`, … over 100 namespaces: a pass over one touches no member. */
  | { readonly do: 'hibernated'; readonly count: number }
  /** So many settled clusters of three, for the resync. */
  | { readonly do: 'settled'; readonly count: number }
  /** Takes a child away, so that the next pass has something to write. */
  | { readonly do: 'disturb'; readonly namespace: string; readonly name: string }
  /** Forgets the counts. */
  | { readonly do: 'reset' }
  | { readonly do: 'count' };

export interface Counts {
  readonly requests: number;
  readonly writes: number;
  /** Of the first write since the reset, on the machine's monotonic clock in milliseconds. */
  readonly firstWrite: number | undefined;
}

const NAMESPACES = 100;
/** Of a hibernated Mysql, as the subject of an event. */
export const subjectOf = (index: number): string => `n-${index % NAMESPACES}/b-${index}`;

function ensureNamespace({ api }: EmbeddedCluster, name: string): void {
  const kind = api.kindOf('v1', 'Namespace');
  if (!api.find(kind, '', name)) api.create(kind, '', { metadata: { name } });
}

export const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6;

async function main(account: string): Promise<void> {
  const cluster = new EmbeddedCluster();
  cluster.installCrd();
  let counts: { requests: number; writes: number; firstWrite: number | undefined } = {
    requests: 0,
    writes: 0,
    firstWrite: undefined,
  };
  const intercept = ({ method }: { readonly method: string }) => {
    counts.requests += 1;
    if (method !== 'GET') {
      counts.writes += 1;
      counts.firstWrite ??= monotonic();
    }
    return undefined;
  };
  const key = readFileSync(`${account}/key.pem`, 'utf8');
  const cert = readFileSync(`${account}/cert.pem`, 'utf8');
  const server = createServer({ key, cert }, handlerFor(cluster.api, { intercept })).listen(0, '127.0.0.1');
  await once(server, 'listening');

  const run = (command: Command): unknown => {
    switch (command.do) {
      case 'hibernated':
        for (let index = 0; index < NAMESPACES; index += 1) ensureNamespace(cluster, `n-${index}`);
        for (let index = 0; index < command.count; index += 1) {
          cluster.applyYaml(
            JSON.stringify({
              apiVersion: 'example.com/v1alpha1',
              kind: 'Mysql',
              metadata: { name: `b-${index}`, namespace: `n-${index % NAMESPACES}` },
              spec: { size: 0, image: 'mysql:8.4' },
            }),
          );
        }
        return true;
      case 'settled':
        addSettled(cluster.api, command.count);
        return true;
      case 'disturb':
        cluster.api.delete(
          cluster.api.kindOf('v1', 'ConfigMap'),
          command.namespace,
          `${command.name}-config`,
        );
        return true;
      case 'reset':
        counts = { requests: 0, writes: 0, firstWrite: undefined };
        return true;
      case 'count':
        return counts;
      default:
        return command satisfies never;
    }
  };
  process.on('message', (command: Command) => process.send?.({ answer: run(command) }));
  process.send?.({ ready: true, port: (server.address() as AddressInfo).port });
}

if (process.send) await main(process.argv[2] ?? '');
