/** Faults that kubectl has no word for, done by commands of whoever made the cluster. A story that needs one is skipped without it. */
import { execFile } from 'node:child_process';

interface Tool {
  /** Undefined when the command is there: what node:test takes as the reason to skip. */
  readonly missing: string | undefined;
  readonly run: (...args: readonly string[]) => Promise<string>;
}

/** Seconds that a command may take. */
const DEADLINE = 60;

/** `variable` holds the command's first words; the arguments are appended. */
function tool(variable: string): Tool {
  const command = process.env[variable];
  return {
    missing: command ? undefined : `${variable} is not set`,
    run: (...args) =>
      new Promise((resolve, reject) => {
        const script = `${command} "$@"`;
        execFile('sh', ['-c', script, 'sh', ...args], { timeout: DEADLINE * 1_000 }, (error, out, err) =>
          error ? reject(new Error(`${variable} ${args.join(' ')}: ${err || error.message}`)) : resolve(out),
        );
      }),
  };
}

/** NAMESPACE/POD: no packet from or to another pod any more. */
export const cut = tool('CLUSTER_CUT');
/** NAMESPACE/POD: takes the cut away. */
export const heal = tool('CLUSTER_HEAL');
/** A command on the (only) node, as root in the node's own mount namespace. */
export const onNode = tool('CLUSTER_NODE');
