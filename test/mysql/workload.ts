/**
 * An application beside the cluster: a pod that appends rows through the primary's Service, a new connection each, and keeps a list of
 * what was acknowledged and when. What is on the list and not in the table afterwards was lost.
 */

import { eventually } from '../cluster/kubectl.ts';
import { suite } from '../cluster/names.ts';
import type { Story } from '../cluster/story.ts';

export interface Workload {
  /** Begins to append; resolves when the first row is acknowledged. */
  start(): Promise<void>;
  /** Ends appending and tells what came of it. */
  stop(): Promise<Outcome>;
  /** Runs a statement through a Service (the primary's when not named); standard output. */
  sql(statement: string, service?: string): Promise<string>;
}

export interface Outcome {
  readonly acknowledged: number;
  readonly lost: readonly number[];
  /** The longest time between two acknowledged rows, in seconds: what an application saw of a failover. */
  readonly longestGap: number;
}

/** $1: host. Each row is one connection and one statement of at most three seconds. */
const APPEND = `
i=$(mysql --no-defaults -h "$1" -uroot -p"$(</etc/mysql-credentials/root-password)" -NBe 'SELECT IFNULL(MAX(id), 0) FROM app.rows_' 2>/dev/null)
: >/tmp/acknowledged; echo $$ >/tmp/append.pid
while [ -e /tmp/append.pid ]; do
  i=$((i + 1))
  timeout 3 mysql --no-defaults --connect-timeout=1 -h "$1" -uroot -p"$(</etc/mysql-credentials/root-password)" \\
    -e "INSERT INTO app.rows_ VALUES ($i)" >/dev/null 2>&1 && echo "$i $(date +%s%N)" >>/tmp/acknowledged
done`;

/** For the Mysql `name` of a story, which must be there with its Secret. */
export async function workloadOn(at: Story, name: string): Promise<Workload> {
  const client = `client-${name}`;
  await at.apply(clientPod(client, name));
  await at.kubectl('wait', '--for=condition=Ready', `pod/${client}`, '--timeout=60s');
  const inClient = (script: string, ...args: readonly string[]) =>
    at.kubectl('exec', client, '--', 'bash', '-c', script, 'bash', ...args);
  const sql = (statement: string, service = name) =>
    inClient(
      'timeout 10 mysql --no-defaults --connect-timeout=2 -h "$2" -uroot -p"$(</etc/mysql-credentials/root-password)" -NBe "$1" 2>/dev/null',
      statement,
      service,
    );
  await eventually('the table is there', 60, () =>
    sql(
      'CREATE DATABASE IF NOT EXISTS app; CREATE TABLE IF NOT EXISTS app.rows_ (id BIGINT PRIMARY KEY)',
    ).then(() => true),
  );
  const acknowledged = async () =>
    (await inClient('cat /tmp/acknowledged 2>/dev/null || :'))
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' ').map(Number) as [id: number, nanoseconds: number]);
  return {
    sql,
    start: async () => {
      await inClient(
        `rm -f /tmp/acknowledged; (bash -c "$1" bash "$2") </dev/null >/dev/null 2>&1 &`,
        APPEND,
        name,
      );
      await eventually('the first row is acknowledged', 60, async () => (await acknowledged()).length > 0);
    },
    stop: async () => {
      const before = (await acknowledged()).length;
      await eventually('rows are acknowledged again', 60, async () => (await acknowledged()).length > before);
      await inClient('rm -f /tmp/append.pid');
      const list = await acknowledged();
      const rows = new Set((await sql('SELECT id FROM app.rows_')).split('\n').filter(Boolean).map(Number));
      const times = list.map(([, nanoseconds]) => nanoseconds / 1e9);
      const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
      return {
        acknowledged: list.length,
        lost: list.map(([id]) => id).filter((id) => !rows.has(id)),
        longestGap: Math.max(0, ...gaps),
      };
    },
  };
}

const clientPod = (client: string, mysql: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: client },
  spec: {
    terminationGracePeriodSeconds: 0,
    automountServiceAccountToken: false,
    containers: [
      {
        name: 'client',
        image: suite().mysqlImage,
        command: ['sleep', '86400'],
        volumeMounts: [{ name: 'credentials', mountPath: '/etc/mysql-credentials' }],
      },
    ],
    volumes: [{ name: 'credentials', secret: { secretName: `${mysql}-credentials` } }],
  },
});
