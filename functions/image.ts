/** `npm run image`: builds dist/ and packs it as an image archive. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { imageArchive } from './archive.ts';

const HELP = `npm run image -- [options]

Makes the function's image as an archive that docker load, podman load and ctr import take. Builds dist/ first.

  --tag NAME      (dev.local/mysql-operator:latest)
  --output FILE   (dist/image.tar)
  --help          this text`;

function main(): void {
  const { values } = parseArgs({
    options: {
      tag: { type: 'string', default: 'dev.local/mysql-operator:latest' },
      output: { type: 'string', default: 'dist/image.tar' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const root = fileURLToPath(new URL('..', import.meta.url));
  execFileSync(process.execPath, [join(root, 'functions/build.ts')], { stdio: 'inherit' });
  const { bytes, compressed } = imageArchive(process.execPath, join(root, 'dist'), values.tag);
  mkdirSync(dirname(values.output), { recursive: true });
  writeFileSync(values.output, bytes);
  const megabytes = (size: number) => `${(size / 1e6).toFixed(1)} MB`;
  console.log(
    `${values.output}  ${values.tag}  ${megabytes(bytes.length)}, ${megabytes(compressed)} compressed`,
  );
  console.log(
    `load it with    docker load -i ${values.output}    or    kind load image-archive ${values.output}`,
  );
}

main();
