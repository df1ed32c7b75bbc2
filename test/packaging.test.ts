/** What is shipped: bundles with code caches, the image, and the Dockerfile that makes the same. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { imageArchive } from '../functions/archive.ts';
import { type Bundled, bundle, FUNCTIONS, type FunctionName, MOST_BYTES } from '../functions/bundle.ts';
import { warmUp } from '../functions/warm-up.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = mkdtempSync(join(tmpdir(), 'dist-'));
let bundles: readonly Bundled[];
before(async () => {
  bundles = await bundle(root, dist);
  await Promise.all(FUNCTIONS.map((name) => warmUp(process.execPath, dist, name)));
});
after(() => rmSync(dist, { recursive: true }));

for (const [index, name] of FUNCTIONS.entries()) {
  describe(name, () => {
    const file = join(dist, `${name}.cjs`);
    const cache = join(dist, `${name}.bundle.cjs.cache`);
    // with the options of the manifests: some of V8's make a code cache useless
    const help = () =>
      spawnSync(process.execPath, [file, '--help'], {
        encoding: 'utf8',
        env: { NODE_OPTIONS: nodeOptions(name) },
      });

    test(`its bundle is smaller than ${MOST_BYTES} bytes`, () => {
      const bytes = bundles[index]?.bytes ?? assert.fail();
      assert.ok(bytes <= MOST_BYTES, `${bytes}`);
    });

    test('nothing of the embedded cluster, of tests or of tools is in it', () => {
      const inputs = bundles[index]?.inputs ?? assert.fail();
      assert.ok(inputs.includes(`functions/${name}/main.ts`));
      assert.deepEqual(
        inputs.filter((path) => /src\/local|test|fast-check|@bufbuild|yaml/.test(path)),
        [],
      );
    });

    test('it starts with its code cache', () => {
      const { status, stdout } = help();
      assert.equal(status, 0);
      assert.doesNotMatch(stdout, /code cache/);
      assert.match(stdout, /Environment:/);
    });

    test('a code cache of another V8 is told and harmless, and so is none', () => {
      const own = readFileSync(cache);
      try {
        const foreign = Buffer.from(own);
        // the first words are V8's magic number and version
        foreign.fill(0x5a, 0, 8);
        writeFileSync(cache, foreign);
        const { status, stdout } = help();
        assert.equal(status, 0);
        assert.match(stdout, /"msg":"the code cache is of another Node: starting without it"/);
        rmSync(cache);
        assert.equal(help().status, 0);
      } finally {
        writeFileSync(cache, own);
      }
    });
  });
}

describe('the image', () => {
  let archive: Buffer;
  before(() => {
    archive = imageArchive(process.execPath, dist, 'dev.local/test:1').bytes;
  });
  const unpacked = (...args: string[]) => execFileSync('tar', args, { input: archive, maxBuffer: 1 << 30 });
  const manifest = () => JSON.parse(unpacked('-xO', 'manifest.json').toString())[0];

  test('is named as asked, and its configuration lists the layers that are there', () => {
    const { Config, RepoTags, Layers } = manifest();
    assert.deepEqual(RepoTags, ['dev.local/test:1']);
    const config = JSON.parse(unpacked('-xO', Config).toString());
    assert.deepEqual(
      config.rootfs.diff_ids,
      Layers.map((layer: string) => `sha256:${layer.replace('.tar', '')}`),
    );
    assert.equal(config.config.User, '65532:65532');
  });

  test('holds what the Dockerfile copies, at the same places, and both entry points', () => {
    const [, app] = manifest().Layers;
    const listed = execFileSync('tar', ['-t'], { input: unpacked('-xO', app), encoding: 'utf8' });
    const files = listed.split('\n').filter((path) => path && !path.endsWith('/'));
    assert.deepEqual(files.sort(), dockerfileCopies().sort());
    for (const name of FUNCTIONS) assert.ok(files.includes(`app/${name}.cjs`));
  });
});

/** NODE_OPTIONS in the function's manifest. */
function nodeOptions(name: FunctionName): string {
  const manifest = { reconcile: 'function', resync: 'resync' }[name];
  const text = readFileSync(join(root, `knative/base/${manifest}.yaml`), 'utf8');
  return /name: NODE_OPTIONS\s+value: (.+)/.exec(text)?.[1] ?? assert.fail('no NODE_OPTIONS');
}

/** Where the last stage of the Dockerfile puts the files of dist/. */
function dockerfileCopies(): string[] {
  const stage =
    readFileSync(join(root, 'Dockerfile'), 'utf8')
      .split(/^FROM /m)
      .at(-1) ?? '';
  return [...stage.matchAll(/^COPY --from=build (?<sources>.+) \/(?<target>app\S*)$/gm)].flatMap(
    ({ groups }) => {
      const target = (groups?.target ?? '').replace(/\/$/, '');
      return (groups?.sources ?? '').split(' ').flatMap((source) => {
        const pattern = source.replace('/src/dist/', '');
        // a folder's content goes into the target, a file keeps its name
        return pattern.includes('*')
          ? globSync(pattern, { cwd: dist }).map((path) => `${target}/${path}`)
          : globSync('*', { cwd: join(dist, pattern) }).map((path) => `${target}/${path}`);
      });
    },
  );
}

test('the Dockerfile starts what the image starts', () => {
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8');
  assert.match(text, /^ENTRYPOINT \["\/usr\/local\/bin\/node", "\/app\/reconcile\.cjs"\]$/m);
  assert.match(text, /^FROM gcr\.io\/distroless\/\S+:nonroot$/m);
});
