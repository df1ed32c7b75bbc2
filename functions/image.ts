/**
 * `npm run image`: the image of both functions as an archive, made without a daemon: Node and the shared libraries that it needs, and
 * dist/. The Dockerfile makes the same content for everybody who has one.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type Entry, tar } from './tar.ts';

const HELP = `npm run image -- [options]

Makes the function's image as an archive that docker load, podman load and ctr import take. Builds dist/ first.

  --tag NAME      (dev.local/mysql-operator:latest)
  --output FILE   (dist/image.tar)
  --help          this text`;

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
/** Numeric, so that runAsNonRoot can be checked. The same as in distroless images. */
const USER = '65532:65532';

interface Layer {
  readonly digest: string;
  readonly tar: Buffer;
}

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
  const layers = [layerOf(nodeEntries()), layerOf(appEntries(join(root, 'dist')))];
  const config = Buffer.from(
    JSON.stringify({
      architecture: ARCHITECTURES[process.arch] ?? process.arch,
      os: 'linux',
      config: {
        User: USER,
        Env: ['PATH=/usr/local/bin:/usr/bin:/bin', 'NODE_ENV=production'],
        Entrypoint: ['node', '/app/reconcile.cjs'],
        WorkingDir: '/app',
        ExposedPorts: { '8080/tcp': {} },
      },
      rootfs: { type: 'layers', diff_ids: layers.map((layer) => `sha256:${layer.digest}`) },
      history: layers.map(() => ({ created: '1970-01-01T00:00:00Z', created_by: 'npm run image' })),
    }),
  );
  const name = (layer: Layer) => `${layer.digest}.tar`;
  const configName = `${sha256(config)}.json`;
  const manifest = [{ Config: configName, RepoTags: [values.tag], Layers: layers.map(name) }];
  const archive = tar([
    ...layers.map((layer) => file(name(layer), layer.tar)),
    file(configName, config),
    file('manifest.json', Buffer.from(JSON.stringify(manifest))),
  ]);
  const output = join(root, values.output);
  writeFileSync(output, archive);
  const megabytes = (bytes: number) => `${Math.round(bytes / 100_000) / 10} MB`;
  const compressed = layers.reduce((sum, layer) => sum + gzipSync(layer.tar, { level: 6 }).length, 0);
  console.log(
    `${values.output}  ${values.tag}  ${megabytes(archive.length)}, ${megabytes(compressed)} compressed`,
  );
  console.log(
    `load it with    docker load -i ${values.output}    or    kind load image-archive ${values.output}`,
  );
}

/** Node's own binary, its loader and libraries, at the places where the binary looks for them. */
function nodeEntries(): Entry[] {
  const node = realpathSync(process.execPath);
  const listing = execFileSync('ldd', [node], { encoding: 'utf8' });
  const libraries = [...listing.matchAll(/(\/\S+\.so[^\s]*)/g)]
    .map((match) => match[1] ?? '')
    .filter(existsSync);
  return withFolders([
    { ...file('usr/local/bin/node', readFileSync(node)), mode: 0o755 },
    ...[...new Set(libraries)].map((path) => ({
      ...file(path.slice(1), readFileSync(realpathSync(path))),
      mode: 0o755,
    })),
    { path: 'tmp', mode: 0o1777, type: 'folder' },
    file(
      'etc/passwd',
      Buffer.from('root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/app:/sbin/nologin\n'),
    ),
  ]);
}

/** dist/ as /app, without what the build leaves beside it. */
function appEntries(dist: string): Entry[] {
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(cjs|cache|sh)$/.test(path) && statSync(join(dist, path)).isFile())
    .sort();
  return withFolders(files.map((path) => file(join('app', path), readFileSync(join(dist, path)))));
}

const file = (path: string, content: Buffer): Entry => ({ path, mode: 0o644, type: 'file', content });

function withFolders(entries: readonly Entry[]): Entry[] {
  const folders = new Set<string>();
  for (const { path } of entries) for (let up = dirname(path); up !== '.'; up = dirname(up)) folders.add(up);
  const made = [...folders].sort().map((path): Entry => ({ path, mode: 0o755, type: 'folder' }));
  return [...made, ...entries];
}

function layerOf(entries: readonly Entry[]): Layer {
  const bytes = tar(entries);
  return { tar: bytes, digest: sha256(bytes) };
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

main();
