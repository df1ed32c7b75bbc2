/** The CRD's schema as a page for users: one row a field. */

/** The part of a structural schema that a reader wants. */
export interface Node {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly additionalProperties?: Node | boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly { readonly message?: string }[];
}

export function reference(schema: Node): string {
  const rules = rulesOf(schema);
  return [
    '<!-- Generated from crds/mysql.yaml by `npm run generate`: do not edit. -->',
    '# Mysql (example.com/v1alpha1)',
    '',
    schema.description ?? '',
    '',
    '## spec',
    '',
    ...table('spec', schema.properties?.spec ?? {}),
    '',
    '### Refused at admission',
    '',
    ...rules.map((rule) => `- ${rule}.`),
    '',
    '## status',
    '',
    ...table('status', schema.properties?.status ?? {}),
    '',
  ].join('\n');
}

function table(path: string, node: Node): string[] {
  return ['| Field | Type | Default | Meaning |', '|---|---|---|---|', ...rows(path, node)];
}

function rows(path: string, node: Node): string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, child]) => {
    const own = `${path}.${name}`;
    const nested = child.items ? rows(`${own}[]`, child.items) : rows(own, child);
    const needed = node.required?.includes(name) ? 'required' : shown(child.default);
    return [
      `| \`${own}\` | ${typeOf(child)} | ${needed} | ${(child.description ?? '').replaceAll('|', '\\|')} |`,
      ...nested,
    ];
  });
}

/** A default object only says that its own fields have defaults. */
const shown = (value: unknown): string =>
  value === undefined || typeof value === 'object' ? '' : `\`${String(value)}\``;

function typeOf(node: Node): string {
  if (node.enum) return node.enum.map((one) => `\`${String(one)}\``).join(', ');
  if (node['x-kubernetes-int-or-string']) return 'quantity';
  if (node.items) return `list of ${typeOf(node.items)}`;
  if (typeof node.additionalProperties === 'object') return `map of ${typeOf(node.additionalProperties)}`;
  const bounds = node.minimum === undefined ? '' : `, ${node.minimum} to ${node.maximum ?? '…'}`;
  return `${node.type ?? 'any'}${bounds}`;
}

function rulesOf(node: Node): string[] {
  const own = (node['x-kubernetes-validations'] ?? []).map(({ message }) => message ?? '');
  return [...own, ...Object.values(node.properties ?? {}).flatMap(rulesOf)];
}
