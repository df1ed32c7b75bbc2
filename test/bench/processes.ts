/** Processes of the benchmark: the stub API server, the function in its forms, and a bare server beside them. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Command, Counts } from './stub.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Stub extends AsyncDisposable {
  readonly port: number;
  readonly account: string;
  tell(command: Command): Promise<unknown>;
  counts(): Promise<Counts>;
}

export async function aStub(account: string): Promise<Stub> {
  const child = fork(fileURLToPath(new URL('stub.ts', import.meta.url)), [account], {
    serialization: 'json',
  });
  const gone = once(child, 'exit').then(([code]) => {
    throw new Error(`the stub API server ended with ${code}`);
  });
  // told only to who waits for an answer
  gone.catch(() => undefined);
  const message = () => Promise.race([once(child, 'message'), gone]);
  const [{ port }] = (await message()) as [{ port: number }];
  const tell = async (command: Command): Promise<unknown> => {
    child.send(command);
    const [{ answer }] = (await message()) as [{ answer: unknown }];
    return answer;
  };
  return {
    port,
    account,
    tell,
    counts: async () => (await tell({ do: 'count' })) as Counts,
    [Symbol.asyncDispose]: () => ended(child),
  };
}

/** Forms in which the function, or what it is compared with, is started. */
export const FORMS = {
  bare: [
    '-e',
    "require('node:http').createServer((q,s)=>{q.resume();s.writeHead(204).end()}).listen(process.env.PORT)",
  ],
  function: ['dist/reconcile.cjs'],
  'function without code cache': ['dist/reconcile.bundle.cjs'],
  'function unbundled': ['functions/reconcile/main.ts'],
} as const;
export type Form = keyof typeof FORMS;

export interface Server extends AsyncDisposable {
  readonly port: number;
  /** Resident memory in MiB. */
  rss(): number;
  post(subject: string): Promise<number>;
}

/** Starts it and does not wait: `post` from the first moment on is what a cold start is about. */
export async function start(form: Form, stub: Stub, env: Record<string, string> = {}): Promise<Server> {
  const port = await freePort();
  const child = spawn(process.execPath, FORMS[form], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH ?? '',
      PORT: `${port}`,
      LOG_LEVEL: 'error',
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: `${stub.port}`,
      SERVICE_ACCOUNT_FOLDER: stub.account,
      MOST_LOOKS: '0',
      ...env,
    },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  return {
    port,
    rss: () =>
      Math.round(
        Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 102.4,
      ) / 10,
    post: (subject) => post(port, agent, subject),
    [Symbol.asyncDispose]: async () => {
      agent.destroy();
      await ended(child);
    },
  };
}

/** Asks until it answers; the pause is short against what is measured. */
export async function firstAnswer(server: Server, subject: string): Promise<void> {
  for (;;) {
    const status = await server.post(subject).catch(() => 0);
    if (status === 204) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

function post(port: number, agent: Agent, subject: string): Promise<number> {
  const headers = {
    'ce-specversion': '1.0',
    'ce-id': '1',
    'ce-source': 'bench',
    'ce-type': 'com.example.mysql.nudge',
    'ce-subject': subject,
    'content-length': '0',
  };
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, method: 'POST', headers, agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
