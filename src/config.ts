/** The environment, read in one place and checked before anything starts. */
import { parseArgs } from 'node:util';
import type { ApiAccess } from './kubernetes/credentials.ts';

export interface Config extends ApiAccess {
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
  readonly instance: string;
}

export interface ResyncConfig extends ApiAccess {
  readonly logLevel: string;
  /** Where the events go. */
  readonly sink: URL;
  /** Further CloudEvents extensions, as the SinkBinding asks for. */
  readonly extensions: Readonly<Record<string, string>>;
  readonly period: number;
  readonly concurrency: number;
  readonly deadline: number;
}

/** A variable or argument that cannot be used; the message names it and the way out. */
export class InvalidConfig extends Error {
  override readonly name = 'InvalidConfig';
}

type Environment = Readonly<Record<string, string | undefined>>;
interface NumberVariable {
  readonly value: number;
  readonly least: number;
  readonly most: number;
  readonly meaning: string;
}

/** Variable → default, bounds and meaning; the help texts are made of these. */
const FUNCTION_NUMBERS = {
  PORT: { value: 8_080, least: 0, most: 65_535, meaning: 'TCP port to listen on; 0: any free one' },
  REPLY_BUDGET_MS: {
    value: 2_000,
    least: 1,
    most: 60_000,
    meaning: 'then an event is answered 204 and its pass goes on',
  },
  PASS_DEADLINE_MS: { value: 20_000, least: 100, most: 600_000, meaning: 'then a pass is given up' },
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
} as const satisfies Record<string, NumberVariable>;

const RESYNC_NUMBERS = {
  RESYNC_PERIOD_MINUTES: {
    value: 5,
    least: 1,
    most: 60,
    meaning: 'how often it is run: each run takes its share of the hour',
  },
  RESYNC_CONCURRENCY: { value: 16, least: 1, most: 1_000, meaning: 'events under way at once' },
  RESYNC_DEADLINE_MS: {
    value: 220_000,
    least: 1_000,
    most: 3_600_000,
    meaning: 'then the run ends with what it has done',
  },
} as const satisfies Record<string, NumberVariable>;

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** Throws InvalidConfig. `namespace` is the content of the service account's namespace file, when there is one. */
export function readConfig(env: Environment, namespace: string | undefined): Config {
  const number = numbersFrom(env, FUNCTION_NUMBERS);
  const nudgeUrl =
    env.NUDGE_URL ||
    `http://${env.K_SERVICE || 'mysql-operator'}.${namespace || 'mysql-operator'}.svc.cluster.local/`;
  httpUrl('NUDGE_URL', nudgeUrl, ['http:'], 'an http:// address (the pods post without TLS)');
  return {
    ...apiAccess(env),
    port: number('PORT'),
    logLevel: logLevel(env),
    nudgeUrl,
    replyBudget: number('REPLY_BUDGET_MS'),
    passDeadline: number('PASS_DEADLINE_MS'),
    drainDeadline: number('DRAIN_DEADLINE_MS'),
    concurrency: number('CONCURRENCY'),
    lookAgainAfter: number('LOOK_AGAIN_MS'),
    mostLooks: number('MOST_LOOKS'),
    instance: env.HOSTNAME || 'mysql-operator',
  };
}

/** Throws InvalidConfig. */
export function readResyncConfig(env: Environment): ResyncConfig {
  const number = numbersFrom(env, RESYNC_NUMBERS);
  return {
    ...apiAccess(env),
    logLevel: logLevel(env),
    sink: httpUrl('K_SINK', env.K_SINK ?? '', ['http:', 'https:'], "the function's address"),
    extensions: overrides(env.K_CE_OVERRIDES || '{}'),
    period: number('RESYNC_PERIOD_MINUTES'),
    concurrency: number('RESYNC_CONCURRENCY'),
    deadline: number('RESYNC_DEADLINE_MS'),
  };
}

const apiAccess = (env: Environment): ApiAccess => ({
  kubeconfig: env.KUBECONFIG || undefined,
  apiHost: env.KUBERNETES_SERVICE_HOST || undefined,
  apiPort: env.KUBERNETES_SERVICE_PORT || '443',
  accountFolder: env.SERVICE_ACCOUNT_FOLDER || undefined,
});

const numbersFrom =
  <Name extends string>(env: Environment, table: Readonly<Record<Name, NumberVariable>>) =>
  (name: Name): number => {
    const { value, least, most } = table[name];
    const text = env[name];
    if (text === undefined || text === '') return value;
    const given = Number(text);
    if (Number.isInteger(given) && given >= least && given <= most) return given;
    throw new InvalidConfig(
      `${name} must be a whole number from ${least} to ${most}, not ${JSON.stringify(text)}`,
    );
  };

function logLevel(env: Environment): string {
  const level = env.LOG_LEVEL || 'info';
  if (LEVELS.includes(level)) return level;
  throw new InvalidConfig(`LOG_LEVEL must be one of ${LEVELS.join(', ')}, not ${JSON.stringify(level)}`);
}

function httpUrl(name: string, text: string, protocols: readonly string[], meaning: string): URL {
  const url = URL.parse(text);
  if (url && protocols.includes(url.protocol)) return url;
  throw new InvalidConfig(`${name} must be ${meaning}, not ${JSON.stringify(text)}`);
}

/** `{"extensions": {"name": "value"}}` (Knative's SinkBinding). */
function overrides(text: string): Readonly<Record<string, string>> {
  try {
    const parsed: unknown = JSON.parse(text);
    const extensions =
      typeof parsed === 'object' && parsed && 'extensions' in parsed ? parsed.extensions : {};
    return Object.fromEntries(Object.entries(extensions ?? {}).map(([key, value]) => [key, String(value)]));
  } catch (cause) {
    throw new InvalidConfig(
      `K_CE_OVERRIDES must be JSON like {"extensions": {}}, not ${JSON.stringify(text)}`,
      { cause },
    );
  }
}

const help = (lines: readonly (readonly [name: string, meaning: string])[]): string =>
  lines.map(([name, meaning]) => `  ${name.padEnd(22)} ${meaning}`).join('\n');
const numberLines = (table: Readonly<Record<string, NumberVariable>>) =>
  Object.entries(table).map(([name, { value, meaning }]) => [name, `${meaning} (${value})`] as const);
const COMMON = [
  ['LOG_LEVEL', `${LEVELS.join(', ')} (info)`],
  ['KUBECONFIG', 'outside a pod: how to reach the API server (~/.kube/config)'],
  [
    'SERVICE_ACCOUNT_FOLDER',
    'in a pod: where its account is mounted (/var/run/secrets/kubernetes.io/serviceaccount)',
  ],
] as const;

export const functionHelp = (): string =>
  help([
    ...numberLines(FUNCTION_NUMBERS),
    ['NUDGE_URL', 'where members post nudges (http://<K_SERVICE>.<namespace>.svc.cluster.local/)'],
    ...COMMON,
  ]);

export const resyncHelp = (): string =>
  help([
    ['K_SINK', 'where to post the events: the address of the function (required)'],
    ['K_CE_OVERRIDES', 'further CloudEvents extensions, as Knative sets it ({})'],
    ...numberLines(RESYNC_NUMBERS),
    ...COMMON,
  ]);

/** The flags that were given, of those that there are; throws InvalidConfig for any other argument. */
export function readFlags<Flag extends string>(
  args: readonly string[],
  flags: readonly Flag[],
): ReadonlySet<string> {
  try {
    const options = Object.fromEntries(flags.map((flag) => [flag, { type: 'boolean' }] as const));
    return new Set(Object.keys(parseArgs({ args: [...args], options }).values));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidConfig(`${why} (--help lists what there is)`, { cause });
  }
}
