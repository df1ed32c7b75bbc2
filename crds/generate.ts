/**
 * `npm run generate` writes src/resource/mysql.generated.ts from crds/mysql.yaml; `-- --check` only says whether it is current.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { parse } from 'yaml';

const SOURCE = new URL('mysql.yaml', import.meta.url);
const TARGET = new URL('../src/resource/mysql.generated.ts', import.meta.url);

/** JSON Schema as the generator understands it: Kubernetes' int-or-string becomes a union, closed objects stay closed. */
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

async function types(part: 'spec' | 'status', title: string): Promise<string> {
  const crd = parse(readFileSync(SOURCE, 'utf8'), { merge: true });
  const schema = crd.spec.versions[0].schema.openAPIV3Schema.properties[part];
  return compile(toJsonSchema(schema) as JSONSchema, title, { bannerComment: '', format: false });
}

if (process.argv.includes('--help')) {
  console.log('npm run generate [-- --check]: TypeScript types of the Mysql resource from crds/mysql.yaml');
} else {
  const text = [
    '// Generated from crds/mysql.yaml by `npm run generate`: do not edit.\n',
    await types('spec', 'MysqlSpec'),
    await types('status', 'MysqlStatus'),
  ].join('\n');
  if (!process.argv.includes('--check')) {
    writeFileSync(TARGET, text);
  } else if (readFileSync(TARGET, 'utf8') !== text) {
    console.error('src/resource/mysql.generated.ts is not current: run `npm run generate`');
    process.exitCode = 1;
  }
}
