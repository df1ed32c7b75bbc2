/** `npm run bench`: the project's numbers, everything side by side in one run. Machines are noisy: read the ratios. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { selfSigned } from '../../functions/self-signed.ts';
import { aStub, FORMS, type Form, firstAnswer, type Server, type Stub, start } from './processes.ts';
import { countRequests } from './requests.ts';
import { resyncOf } from './resync.ts';
import { type Spread, spreadOf } from './spread.ts';
import { monotonic, subjectOf } from './stub.ts';

const HELP = `npm run bench -- [options]

Builds dist/ and measures: boot to the first event answered with a write (beside a bare node:http server, without the code cache, and
unbundled), resident memory, warm event to first write, events a second, requests a pass, and the resync.

  --rounds N   of everything that is repeated (10)
  --quick      one fifth of the work, for a look
  --json       one JSON object instead of a table
  --help       this text`;

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Mysqls that the stub knows: each boot and each load gets its own share. */
const MYSQLS = 1_000;

interface Row {
  readonly what: string;
  readonly value: string;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '10' },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be a whole number above 0');
  const share = values.quick ? 5 : 1;
  const progress = (text: string) => console.error(`… ${text}`);

  progress('building');
  execFileSync(process.execPath, ['functions/build.ts'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const account = mkdtempSync(join(tmpdir(), 'bench-'));
  const { cert } = selfSigned(account);
  writeFileSync(join(account, 'ca.crt'), cert);
  writeFileSync(join(account, 'token'), 'token');
  try {
    progress('boot to first event, each form in turn');
    const boot = await boots(account, Math.max(3, Math.round(rounds / (values.quick ? 2 : 1))));
    progress('warm event to first write');
    const warm = await warmWrites(account, 200 / share);
    progress('events a second, and memory');
    const load = await loads(account, 10_000 / share);
    progress('requests a pass');
    const requests = await countRequests();
    progress('resync');
    const resync = [];
    for (const count of [100, 1_000, 10_000 / share]) resync.push(await resyncOf(account, count));
    const bytes = Object.fromEntries(
      ['reconcile', 'resync'].map((name) => [name, statSync(join(root, `dist/${name}.bundle.cjs`)).size]),
    );
    const result = { node: process.version, boot, warm, load, requests, resync, bytes };
    if (values.json) console.log(JSON.stringify(result));
    else print(rowsOf(result));
  } finally {
    rmSync(account, { recursive: true, force: true });
  }
}

type Boot = Record<Form, { readonly firstEvent: Spread; readonly rss: Spread }>;

/** So many Mysqls that have everything but their ConfigMap: the first event of each leads to exactly one write. */
async function madeAndDisturbed(stub: Stub, count: number): Promise<void> {
  await stub.tell({ do: 'hibernated', count });
  await using server = await start('function', stub);
  await firstAnswer(server, subjectOf(0));
  for (let index = 0; index < count; index += 1) {
    for (let pass = 0; pass < 3; pass += 1) await server.post(subjectOf(index));
    const [namespace = '', name = ''] = subjectOf(index).split('/');
    await stub.tell({ do: 'disturb', namespace, name });
  }
}

/** Every form once a round, so that a noisy moment hits all of them. */
async function boots(account: string, rounds: number): Promise<Boot> {
  await using stub = await aStub(account);
  const forms = Object.keys(FORMS) as Form[];
  await madeAndDisturbed(stub, rounds * forms.length);
  const times = new Map<Form, number[]>();
  const memory = new Map<Form, number[]>();
  let next = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (const form of forms) {
      const started = performance.now();
      await using server = await start(form, stub);
      await firstAnswer(server, subjectOf(next));
      next += 1;
      times.set(form, [...(times.get(form) ?? []), performance.now() - started]);
      memory.set(form, [...(memory.get(form) ?? []), server.rss()]);
    }
  }
  return Object.fromEntries(
    forms.map((form) => [
      form,
      { firstEvent: spreadOf(times.get(form) ?? []), rss: spreadOf(memory.get(form) ?? []) },
    ]),
  ) as Boot;
}

async function warmWrites(account: string, count: number): Promise<Spread> {
  await using stub = await aStub(account);
  await stub.tell({ do: 'hibernated', count: 1 });
  await using server = await start('function', stub);
  await firstAnswer(server, subjectOf(0));
  await server.post(subjectOf(0));
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    await stub.tell({ do: 'disturb', namespace: 'n-0', name: 'b-0' });
    await stub.tell({ do: 'reset' });
    const sent = monotonic();
    await server.post(subjectOf(0));
    const { firstWrite } = await stub.counts();
    if (firstWrite !== undefined) times.push(firstWrite - sent);
  }
  return spreadOf(times);
}

interface Load {
  readonly eventsPerSecond: Readonly<Record<string, number>>;
  readonly rss: { readonly afterBoot: number; readonly after1000: number; readonly after10000: number };
}

async function loads(account: string, most: number): Promise<Load> {
  await using stub = await aStub(account);
  await stub.tell({ do: 'hibernated', count: MYSQLS });
  await using server = await start('function', stub);
  await firstAnswer(server, subjectOf(0));
  const afterBoot = server.rss();
  await burst(server, MYSQLS, 16, (index) => subjectOf(index % MYSQLS));
  const after1000 = server.rss();
  const eventsPerSecond: Record<string, number> = {};
  for (const concurrency of [1, 4, 16]) {
    eventsPerSecond[`${concurrency} at a time, 1,000 Mysqls`] = await burst(
      server,
      most / 4,
      concurrency,
      (index) => subjectOf(index % MYSQLS),
    );
  }
  eventsPerSecond['16 at a time, one Mysql'] = await burst(server, most / 4, 16, () => subjectOf(0));
  return { eventsPerSecond, rss: { afterBoot, after1000, after10000: server.rss() } };
}

/** Events a second. */
async function burst(
  server: Server,
  count: number,
  concurrency: number,
  subject: (index: number) => string,
): Promise<number> {
  let next = 0;
  const started = performance.now();
  const worker = async () => {
    while (next < count) {
      const index = next;
      next += 1;
      const status = await server.post(subject(index));
      if (status !== 204) throw new Error(`event ${index} was answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return Math.round((count / (performance.now() - started)) * 1_000);
}

type Result = {
  boot: Boot;
  warm: Spread;
  load: Load;
  requests: Awaited<ReturnType<typeof countRequests>>;
  resync: Awaited<ReturnType<typeof resyncOf>>[];
  bytes: Record<string, number>;
};

function rowsOf({ boot, warm, load, requests, resync, bytes }: Result): readonly Row[] {
  const bare = boot.bare;
  const ms = ({ median, least, most }: Spread) =>
    `${median.toFixed(0)} ms (${least.toFixed(0)}–${most.toFixed(0)})`;
  return [
    ...(Object.keys(boot) as Form[]).map((form) => {
      const { firstEvent, rss } = boot[form];
      const ratio = (own: Spread, base: Spread) => `${(own.median / base.median).toFixed(2)}×`;
      return {
        what: `boot → first event, ${form}`,
        value: `${ms(firstEvent)} ${ratio(firstEvent, bare.firstEvent)}   ${rss.median} MiB ${ratio(rss, bare.rss)}`,
      };
    }),
    {
      what: 'warm event → first write',
      value: `p50 ${warm.median.toFixed(1)} ms, p95 ${warm.p95.toFixed(1)} ms`,
    },
    ...Object.entries(load.eventsPerSecond).map(([what, value]) => ({
      what: `events a second, ${what}`,
      value: `${value}`,
    })),
    {
      what: 'memory after boot, 1,000, 10,000 events',
      value: `${load.rss.afterBoot}, ${load.rss.after1000}, ${load.rss.after10000} MiB`,
    },
    ...Object.entries(requests).map(([what, asked]) => ({
      what: `requests, ${what}`,
      value: `${asked.requests} (${asked.writes} writes) in ${asked.passes} passes`,
    })),
    ...resync.map((run) => ({
      what: `resync of ${run.mysqls} settled`,
      value: `${run.seconds} s, ${run.requests} requests, ${run.rssMiB} MiB, ${run.posted} posted`,
    })),
    ...Object.entries(bytes).map(([name, size]) => ({
      what: `bundle ${name}`,
      value: `${Math.round(size / 1_000)} kB`,
    })),
  ];
}

function print(rows: readonly Row[]): void {
  const width = Math.max(...rows.map(({ what }) => what.length));
  for (const { what, value } of rows) console.log(`${what.padEnd(width)}  ${value}`);
}

await main();
