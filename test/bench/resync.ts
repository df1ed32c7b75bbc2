/** The resync over many settled clusters, as the process that it is. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { aStub, type Stub } from './processes.ts';

export interface ResyncRun {
  readonly mysqls: number;
  readonly seconds: number;
  readonly rssMiB: number;
  readonly requests: number;
  readonly posted: number;
}

export async function resyncOf(account: string, mysqls: number): Promise<ResyncRun> {
  await using stub: Stub = await aStub(account);
  await stub.tell({ do: 'settled', count: mysqls });
  await stub.tell({ do: 'reset' });
  let posted = 0;
  const sink = createServer((request, response) => {
    posted += 1;
    request.resume();
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await once(sink, 'listening');
  const started = performance.now();
  const child = spawn(
    process.execPath,
    ['--max-old-space-size=64', '--max-semi-space-size=4', 'dist/resync.cjs'],
    {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        PATH: process.env.PATH ?? '',
        K_SINK: `http://127.0.0.1:${(sink.address() as AddressInfo).port}/`,
        KUBERNETES_SERVICE_HOST: '127.0.0.1',
        KUBERNETES_SERVICE_PORT: `${stub.port}`,
        SERVICE_ACCOUNT_FOLDER: account,
      },
    },
  );
  const output = child.stdout.toArray();
  const [code] = (await once(child, 'exit')) as [number];
  const seconds = Math.round(performance.now() - started) / 1_000;
  sink.close();
  const text = (await output).join('');
  if (code !== 0) throw new Error(`the resync ended with ${code}: ${text}`);
  const { peakMiB } = JSON.parse(text.trim().split('\n').at(-1) ?? '') as { peakMiB: number };
  const { requests } = await stub.counts();
  return { mysqls, seconds, rssMiB: peakMiB, requests, posted };
}
