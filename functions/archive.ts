/**
 * The image of both functions as an archive (docker save's format, which containerd, podman and kind take too), made without a daemon:
 * one layer with Node and the shared libraries that it needs, one with dist/. The Dockerfile makes the same for those who have one.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Entry, tar } from './tar.ts';

export interface ImageArchive {
  readonly bytes: Buffer;
  /** What a registry would hold of it, in bytes. */
  readonly compressed: number;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
/** Numeric, so that runAsNonRoot can be checked. The same as in distroless images. */
const USER = '65532:65532';

/** `node`: path of the binary that also made the code caches in `dist`. The same content gives the same bytes. */
export function imageArchive(node: string, dist: string, tag: string): ImageArchive {
  const layers = [nodeEntries(node), appEntries(dist)].map((entries) => tar(entries));
  const config = Buffer.from(
    JSON.stringify({
      architecture: ARCHITECTURES[process.arch] ?? process.arch,
      os: 'linux',
      config: {
        User: USER,
        Env: ['PATH=/usr/local/bin:/usr/bin:/bin', 'NODE_ENV=production'],
        Entrypoint: ['/usr/local/bin/node', '/app/reconcile.cjs'],
        WorkingDir: '/app',
        ExposedPorts: { '8080/tcp': {} },
      },
      rootfs: { type: 'layers', diff_ids: layers.map((layer) => `sha256:${sha256(layer)}`) },
      history: layers.map(() => ({ created: '1970-01-01T00:00:00Z', created_by: 'npm run image' })),
    }),
  );
  const layerName = (layer: Buffer) => `${sha256(layer)}.tar`;
  const configName = `${sha256(config)}.json`;
  const manifest = [{ Config: configName, RepoTags: [tag], Layers: layers.map(layerName) }];
  const bytes = tar([
    ...layers.map((layer) => file(layerName(layer), layer)),
    file(configName, config),
    file('manifest.json', Buffer.from(JSON.stringify(manifest))),
  ]);
  const compressed = layers.reduce((sum, layer) => sum + gzipSync(layer).length, 0);
  return { bytes, compressed };
}

/** Node's own binary, its loader and libraries, at the places where the binary looks for them. */
function nodeEntries(node: string): Entry[] {
  const listing = execFileSync('ldd', [node], { encoding: 'utf8' });
  const libraries = new Set([...listing.matchAll(/\/\S+\.so\S*/g)].map(([path]) => path));
  const program = (path: string, from: string) => ({
    ...file(path, readFileSync(realpathSync(from))),
    mode: 0o755,
  });
  return withFolders([
    program('usr/local/bin/node', node),
    ...[...libraries].filter(existsSync).map((path) => program(path.slice(1), path)),
    { path: 'tmp', mode: 0o1777, type: 'folder' },
    file(
      'etc/passwd',
      Buffer.from('root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/app:/sbin/nologin\n'),
    ),
  ]);
}

/** dist/ as /app, without what else is written beside it. */
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

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
