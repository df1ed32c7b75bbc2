/**
 * `npm run generate`: from crds/mysql.yaml, the TypeScript types of the resource and its reference for users. `-- --check` only says
 * whether they are current.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { parse } from 'yaml';
import type { Node } from './reference.ts';
import { reference } from './reference.ts';

const HELP = `npm run generate [-- --check]

Writes src/resource/mysql.generated.ts and docs/reference/mysql.md from crds/mysql.yaml. With --check nothing is written, and the exit
code tells whether they are current.`;

const at = (path: string): URL => new URL(`../${path}`, import.meta.url);

/** JSON Schema as the generator understands it: Kubernetes' own keywords left out, closed objects closed. */
function toJsonSchema(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(toJsonSchema);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node)
    .filter(([key]) => !key.startsWith('x-kubernetes-') && key !== 'pattern')
    .map(([key, value]) => [key, toJsonSchema(value)] as const);
  const schema: Record<string, unknown> = Object.fromEntries(entries);
  if (schema.type === 'object' && schema.properties && !('additionalProperties' in schema)) {
    schema.additionalProperties = false;
  }
  return schema;
}

const types = (schema: Node | undefined, title: string): Promise<string> =>
  compile(toJsonSchema(schema) as JSONSchema, title, { bannerComment: '', format: false });

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) {
    console.log(HELP);
    return;
  }
  const crd = parse(readFileSync(at('crds/mysql.yaml'), 'utf8'), { merge: true });
  const schema: Node = crd.spec.versions[0].schema.openAPIV3Schema;
  const generated = {
    'src/resource/mysql.generated.ts': [
      '// Generated from crds/mysql.yaml by `npm run generate`: do not edit.\n',
      await types(schema.properties?.spec, 'MysqlSpec'),
      await types(schema.properties?.status, 'MysqlStatus'),
    ].join('\n'),
    'docs/reference/mysql.md': reference(schema),
  };
  for (const [path, text] of Object.entries(generated)) {
    if (!args.includes('--check')) {
      writeFileSync(at(path), text);
    } else if (readFileSync(at(path), 'utf8') !== text) {
      console.error(`${path} is not current: run npm run generate`);
      process.exitCode = 1;
    }
  }
}

await main(process.argv.slice(2));
