/** The command line of `npm start`. */
import { parseArgs } from 'node:util';

export interface StartOptions {
  readonly help: boolean;
  readonly once: boolean;
  readonly json: boolean;
  /** File to apply; undefined: nothing. */
  readonly file: string | undefined;
  readonly port: number;
  readonly apiPort: number;
  readonly speed: number;
  /** Seconds until --once gives up. */
  readonly timeout: number;
  readonly data: string | undefined;
  readonly kubeconfig: string | undefined;
}

/** The message names the option and the way out. */
export class InvalidOption extends Error {
  override readonly name = 'InvalidOption';
}

export const HELP = `npm start -- [options]

Runs the whole loop on this machine: an embedded Kubernetes API with modelled MySQL servers, a forwarder that behaves like Knative's
adapter, and the function's own server. Applies the sample and shows events, passes and writes as they happen. Ctrl-C ends it.

  --once              end when the cluster is Ready; the last line is one JSON object
  --timeout SECONDS   with --once: give up after this (120)
  --file FILE         apply this YAML instead of crds/samples/mysql-sample.yaml
  --no-sample         apply nothing
  --port PORT         of the function (8080; 0: any free one)
  --api-port PORT     of the Kubernetes API (0: any free one)
  --speed FACTOR      let the modelled servers be this many times as quick as measured ones (1)
  --data FILE         keep the cluster's objects in this file and begin with what is in it
  --kubeconfig FILE   run the function here against a real cluster instead; nothing is embedded then
  --json              one JSON object a line instead of text
  --help              this text`;

/** Throws InvalidOption. */
export function parseOptions(args: readonly string[]): StartOptions {
  const values = parse(args);
  const number = (
    name: 'port' | 'api-port' | 'speed' | 'timeout',
    fallback: number,
    least: number,
    most: number,
  ): number => {
    const text = values[name];
    const value = text === undefined ? fallback : Number(text);
    if (text === '' || !Number.isFinite(value) || value < least || value > most) {
      throw new InvalidOption(
        `--${name} must be a number from ${least} to ${most}, not ${JSON.stringify(text)}`,
      );
    }
    return value;
  };
  if (values.file !== undefined && values['no-sample'])
    throw new InvalidOption('--file and --no-sample exclude each other');
  if (values.once && values['no-sample'])
    throw new InvalidOption('--once needs something to become Ready: leave out --no-sample');
  if (
    values.kubeconfig !== undefined &&
    (values.once || values.data !== undefined || values.file !== undefined)
  ) {
    throw new InvalidOption(
      '--kubeconfig goes with --port, --json and --help only: apply to that cluster with kubectl',
    );
  }
  return {
    help: values.help ?? false,
    once: values.once ?? false,
    json: values.json ?? false,
    file: values['no-sample'] ? undefined : (values.file ?? 'crds/samples/mysql-sample.yaml'),
    port: number('port', values.once ? 0 : 8_080, 0, 65_535),
    apiPort: number('api-port', 0, 0, 65_535),
    speed: number('speed', 1, 0.1, 1_000),
    timeout: number('timeout', 120, 1, 86_400),
    data: values.data,
    kubeconfig: values.kubeconfig,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h' },
        once: { type: 'boolean' },
        json: { type: 'boolean' },
        'no-sample': { type: 'boolean' },
        file: { type: 'string' },
        port: { type: 'string' },
        'api-port': { type: 'string' },
        speed: { type: 'string' },
        timeout: { type: 'string' },
        data: { type: 'string' },
        kubeconfig: { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw new InvalidOption(`${(error as Error).message.split('. ')[0]} (--help lists what there is)`);
  }
}
