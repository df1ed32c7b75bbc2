/** The environment, read in one place and checked before anything starts. */
import { parseArgs } from 'node:util';

export interface Config {
  readonly port: number;
  readonly logLevel: string;
  /** Where members post their nudges; it goes into each cluster's ConfigMap. */
  readonly nudgeUrl: string;
  readonly replyBudget: number;
  readonly passDeadline: number;
  readonly drainDeadline: number;
  readonly concurrency: number;
  readonly lookAgainAfter: number;
  readonly mostLooks: number;
  /** undefined: in a cluster. */
  readonly kubeconfig: string | undefined;
  readonly apiHost: string | undefined;
  readonly apiPort: string;
  readonly instance: string;
}

/** A variable that cannot be used; the message names it and the way out. */
export class InvalidConfig extends Error {
  override readonly name = 'InvalidConfig';
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Variable → default and meaning; the help text is made of it. Durations in milliseconds. */
const NUMBERS = {
  PORT: { value: 8080, least: 0, most: 65_535, meaning: 'TCP port to listen on' },
  REPLY_BUDGET_MS: {
    value: 2_000,
    least: 1,
    most: 60_000,
    meaning: 'after this an event is answered 204 and its pass goes on',
  },
  PASS_DEADLINE_MS: { value: 20_000, least: 100, most: 600_000, meaning: 'after this a pass is given up' },
  DRAIN_DEADLINE_MS: {
    value: 25_000,
    least: 0,
    most: 600_000,
    meaning: 'how long SIGTERM waits for running passes',
  },
  CONCURRENCY: { value: 16, least: 1, most: 1_000, meaning: 'Mysqls looked at side by side' },
  LOOK_AGAIN_MS: {
    value: 500,
    least: 10,
    most: 60_000,
    meaning: 'pause before looking again while something is under way',
  },
  MOST_LOOKS: { value: 240, least: 0, most: 100_000, meaning: 'looks in a row without an event in between' },
} as const;

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** Throws InvalidConfig. `namespace` is the content of the service account's namespace file, when there is one. */
export function readConfig(env: Environment, namespace: string | undefined): Config {
  const number = (name: keyof typeof NUMBERS): number => {
    const { value, least, most } = NUMBERS[name];
    const text = env[name];
    if (text === undefined || text === '') return value;
    const given = Number(text);
    if (!Number.isInteger(given) || given < least || given > most) {
      throw new InvalidConfig(
        `${name} must be a whole number from ${least} to ${most}, not ${JSON.stringify(text)}`,
      );
    }
    return given;
  };
  const logLevel = env.LOG_LEVEL ?? 'info';
  if (!LEVELS.includes(logLevel)) {
    throw new InvalidConfig(`LOG_LEVEL must be one of ${LEVELS.join(', ')}, not ${JSON.stringify(logLevel)}`);
  }
  const nudgeUrl =
    env.NUDGE_URL ??
    `http://${env.K_SERVICE ?? 'mysql-operator'}.${namespace ?? 'mysql-operator'}.svc.cluster.local/`;
  if (!URL.canParse(nudgeUrl) || new URL(nudgeUrl).protocol !== 'http:') {
    throw new InvalidConfig(
      `NUDGE_URL must be an http:// address (the probe has no TLS), not ${JSON.stringify(nudgeUrl)}`,
    );
  }
  return {
    port: number('PORT'),
    logLevel,
    nudgeUrl,
    replyBudget: number('REPLY_BUDGET_MS'),
    passDeadline: number('PASS_DEADLINE_MS'),
    drainDeadline: number('DRAIN_DEADLINE_MS'),
    concurrency: number('CONCURRENCY'),
    lookAgainAfter: number('LOOK_AGAIN_MS'),
    mostLooks: number('MOST_LOOKS'),
    kubeconfig: env.KUBECONFIG || undefined,
    apiHost: env.KUBERNETES_SERVICE_HOST || undefined,
    apiPort: env.KUBERNETES_SERVICE_PORT || '443',
    instance: env.HOSTNAME || 'mysql-operator',
  };
}

export const environmentHelp = (): string =>
  [
    ...Object.entries(NUMBERS).map(
      ([name, { value, meaning }]) => `  ${name.padEnd(18)} ${meaning} (${value})`,
    ),
    `  ${'LOG_LEVEL'.padEnd(18)} ${LEVELS.join(', ')} (info)`,
    `  ${'NUDGE_URL'.padEnd(18)} where members post nudges (http://<K_SERVICE>.<namespace>.svc.cluster.local/)`,
    `  ${'KUBECONFIG'.padEnd(18)} outside a cluster: how to reach the API server`,
  ].join('\n');

/** True when --help was asked for; throws InvalidConfig for any other argument. */
export function helpWanted(args: readonly string[]): boolean {
  try {
    return (
      parseArgs({ args: [...args], options: { help: { type: 'boolean', short: 'h' } } }).values.help ?? false
    );
  } catch (cause) {
    throw new InvalidConfig(`${(cause as Error).message} (--help lists what there is)`, { cause });
  }
}
