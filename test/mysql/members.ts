/** What a story does to members, with kubectl alone: signals, local statements, and who is who. */
import assert from 'node:assert/strict';
import { eventually } from '../cluster/kubectl.ts';
import type { Story } from '../cluster/story.ts';

/** bash in the member's container. */
export const inMember = (at: Story, pod: string, script: string, ...args: readonly string[]) =>
  at.kubectl('exec', pod, '-c', 'mysqld', '--', 'bash', '-c', script, 'bash', ...args);

/** A signal to mysqld itself, as a crash or a stall would strike it; the pod's PID 1 lives on. */
export const signal = (at: Story, pod: string, name: 'KILL' | 'STOP' | 'CONT'): Promise<string> =>
  inMember(at, pod, 'kill -"$1" "$(</var/run/mysqld/mysqld.pid)"', name);

/** A statement on that very server, as the local account. */
export const local = (at: Story, pod: string, statement: string): Promise<string> =>
  inMember(
    at,
    pod,
    'timeout 20 mysql --no-defaults --socket=/var/run/mysqld/mysqld.sock --user=mysql -NBe "$1"',
    statement,
  );

export const primaryOf = async (at: Story, name: string): Promise<string> => {
  const { status } = await at.get('mysql', name);
  assert.ok(status.primary, `${name} has no primary`);
  return status.primary;
};

export const podsOf = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, ordinal) => `${name}-${ordinal}`);

/** Members whose server says that it takes writes, asked one by one; those that do not answer take none. */
export async function writable(at: Story, pods: readonly string[]): Promise<string[]> {
  const answers = await Promise.all(
    pods.map((pod) =>
      local(at, pod, 'SELECT @@super_read_only').then(
        (text) => text.trim(),
        () => '1',
      ),
    ),
  );
  return pods.filter((_, index) => answers[index] === '0');
}

/** The number of container restarts: 0 from create to Ready and through everything that run.sh mends in place. */
export const restarts = async (at: Story): Promise<number> => {
  const pods = await at.list('pod', 'app=mysql');
  return pods.reduce((sum, { status }) => sum + (status.containerStatuses?.[0]?.restartCount ?? 0), 0);
};

/** Every member holds the same rows. */
export async function assertSameRows(at: Story, pods: readonly string[]): Promise<void> {
  await eventually('all members hold the same rows', 60, async () => {
    const sums = await Promise.all(
      pods.map((pod) => local(at, pod, 'SELECT COUNT(*), SUM(id) FROM app.rows_')),
    );
    return new Set(sums).size === 1;
  });
}
