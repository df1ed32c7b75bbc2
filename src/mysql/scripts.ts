/** The bash scripts that run in a member's pod, as text for the ConfigMap. They lie beside this file, and beside the bundle in an image. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const NAMES = ['env.sh', 'init.sh', 'accounts.sh', 'run.sh', 'watch.sh', 'probe.sh', 'stop.sh'] as const;

/** Throws when a file is absent: a function without its scripts must not start. */
export const readScripts = (
  folder: string = join(import.meta.dirname, 'scripts'),
): Readonly<Record<string, string>> =>
  Object.fromEntries(NAMES.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
