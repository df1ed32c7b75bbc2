/** What the contract's requests are made of, and how its answers are read. */
import type { Reply } from './http.ts';

export const APPLY = 'application/apply-patch+yaml';
export const MERGE = 'application/merge-patch+json';
export const JSON_PATCH = 'application/json-patch+json';
export const STRATEGIC = 'application/strategic-merge-patch+json';

let names = 0;
/** No two of one test file are the same. */
export function freshName(): string {
  names += 1;
  return `c-${names}`;
}

export const configMap = (
  name: string,
  data: Record<string, string> = { a: '1' },
  metadata: object = {},
) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});

/** What a refusal says of itself, beside its message. */
export const refused = ({ status, body }: Reply) => ({
  status,
  code: body.code,
  kind: body.kind,
  reason: body.reason,
});
