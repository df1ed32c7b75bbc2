/** `npm run build`: bundles with their code caches in dist/, and a check of their sizes. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, FUNCTIONS, MOST_BYTES } from './bundle.ts';
import { warmUp } from './warm-up.ts';

const HELP = `npm run build

Bundles both functions into dist/ (one minified CommonJS file each, the pod's scripts beside them) and makes their code caches.`;

async function main(): Promise<void> {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const dist = join(root, 'dist');
  const bundles = await bundle(root, dist);
  for (const name of FUNCTIONS) await warmUp(process.execPath, dist, name);
  for (const { file, bytes } of bundles) {
    const cache = statSync(`${file}.cache`).size;
    console.log(
      `${file.slice(root.length)}  ${Math.round(bytes / 1_000)} kB, code cache ${Math.round(cache / 1_000)} kB`,
    );
    if (bytes > MOST_BYTES) throw new Error(`${file} is larger than ${MOST_BYTES} bytes`);
  }
}

if (process.argv.includes('--help')) console.log(HELP);
else await main();
