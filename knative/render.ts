/** `npm run manifests`: the whole install as one file, for those who do not use kustomize. Rendered by kubectl's own kustomize. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';

const HELP = `npm run manifests -- [options]

Writes the rendered install manifests (CRD first) as one file. Needs kubectl, which brings kustomize.

  --overlay DIR   kustomization to render (knative)
  --output FILE   where to (dist/mysql-operator.yaml); - is standard output
  --help          this text`;

const { values } = parseArgs({
  options: {
    overlay: { type: 'string', default: 'knative' },
    output: { type: 'string', default: 'dist/mysql-operator.yaml' },
    help: { type: 'boolean', short: 'h' },
  },
});

if (values.help) {
  console.log(HELP);
} else {
  try {
    const text = execFileSync('kubectl', ['kustomize', values.overlay], {
      encoding: 'utf8',
      maxBuffer: 64 << 20,
    });
    if (values.output === '-') {
      process.stdout.write(text);
    } else {
      mkdirSync(dirname(values.output), { recursive: true });
      writeFileSync(values.output, text);
      console.log(`${values.output}: ${text.split('\n---\n').length} objects`);
    }
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    console.error(
      missing
        ? 'kubectl is not on the PATH: install it, or apply the kustomization elsewhere'
        : String(error),
    );
    process.exitCode = 1;
  }
}
