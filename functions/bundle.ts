/** One minified CommonJS bundle a function, and what of it may not grow unseen. Used by the build and by the benchmark. */
import { cpSync, globSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';

export const FUNCTIONS = ['reconcile', 'resync'] as const;
export type FunctionName = (typeof FUNCTIONS)[number];

/** Bytes. */
export const MOST_BYTES = 2_000_000;

/** The official client is only needed outside a pod: a file of its own, so that a cold start neither reads nor compiles it. */
const KUBECONFIG_MODULE = '@kubernetes/client-node/dist/config.js';

const apart: Plugin = {
  name: 'apart',
  setup(setup) {
    setup.onResolve({ filter: new RegExp(`^${KUBECONFIG_MODULE}$`) }, () => ({
      path: './kubeconfig.cjs',
      external: true,
    }));
  },
};

const common = {
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  legalComments: 'none',
  // what the sources ask of their own place, in CommonJS
  define: { 'import.meta.dirname': '__dirname' },
  logLevel: 'warning',
} as const;

export interface Bundled {
  readonly file: string;
  readonly bytes: number;
  /** What went into it, by paths from the project's root. */
  readonly inputs: readonly string[];
}

/** Writes NAME.bundle.cjs for each function, kubeconfig.cjs and the pod's scripts into `folder`; what it wrote there before goes. */
export async function bundle(root: string, folder: string): Promise<readonly Bundled[]> {
  mkdirSync(folder, { recursive: true });
  for (const path of globSync(['*.cjs', '*.cache', 'scripts'], { cwd: folder })) {
    rmSync(join(folder, path), { recursive: true });
  }
  const bundles: Bundled[] = [];
  for (const name of FUNCTIONS) {
    const file = join(folder, `${name}.bundle.cjs`);
    const { metafile } = await build({
      ...common,
      entryPoints: [join(root, `functions/${name}/main.ts`)],
      outfile: file,
      plugins: [apart],
      absWorkingDir: root,
      metafile: true,
    });
    bundles.push({ file, bytes: statSync(file).size, inputs: Object.keys(metafile.inputs) });
  }
  await build({
    ...common,
    stdin: { contents: `export { KubeConfig } from '${KUBECONFIG_MODULE}'`, resolveDir: root, loader: 'js' },
    outfile: join(folder, 'kubeconfig.cjs'),
  });
  cpSync(join(root, 'src/mysql/scripts'), join(folder, 'scripts'), { recursive: true });
  for (const name of FUNCTIONS) writeFileSync(join(folder, `${name}.cjs`), loader(name));
  return bundles;
}

/**
 * The entry file: runs the bundle with the code that V8 compiled at build time. A cache of another V8 is rejected by V8 itself; that costs
 * the time it would have saved and nothing else, and is told in the log.
 */
export const loader = (name: FunctionName): string => `'use strict';
const { readFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { Script } = require('node:vm');
const { createRequire } = require('node:module');
const filename = join(__dirname, '${name}.bundle.cjs');
let cachedData;
try { cachedData = readFileSync(filename + '.cache'); } catch {}
const source = '(function(exports,require,module,__filename,__dirname){' + readFileSync(filename, 'utf8') + '\\n})';
const script = new Script(source, { filename, cachedData, importModuleDynamically: require('node:vm').constants.USE_MAIN_CONTEXT_DEFAULT_LOADER });
if (script.cachedDataRejected) console.log(JSON.stringify({ level: 'warn', msg: 'the code cache is of another Node: starting without it' }));
if (process.env.WRITE_CODE_CACHE) process.once('exit', () => require('node:fs').writeFileSync(process.env.WRITE_CODE_CACHE, script.createCachedData()));
const module_ = { exports: {} };
script.runInThisContext()(module_.exports, createRequire(filename), module_, filename, dirname(filename));
`;
