/** An address of the Kubernetes API taken apart. */
export interface Route {
  readonly group: string;
  readonly version: string;
  readonly namespace: string | undefined;
  readonly plural: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** `/api/v1/namespaces/ns/pods/name/status`, `/apis/group/version/plural`; undefined for every other address. */
export function parseRoute(path: string): Route | undefined {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  const [root] = parts;
  const core = root === 'api';
  if (!core && root !== 'apis') return undefined;
  const [group, version, ...rest] = core ? ['', ...parts.slice(1)] : parts.slice(1);
  if (group === undefined || version === undefined || rest.length === 0) return undefined;
  // `/api/v1/namespaces/x` and `/api/v1/namespaces/x/status` are the Namespace itself
  const inNamespace =
    rest[0] === 'namespaces' &&
    rest.length > 2 &&
    !(core && rest.length === 3 && (rest[2] === 'status' || rest[2] === 'finalize'));
  const [plural, name, ...subresource] = inNamespace ? rest.slice(2) : rest;
  if (plural === undefined) return undefined;
  return {
    group,
    version,
    namespace: inNamespace ? rest[1] : undefined,
    plural,
    name,
    subresource: subresource.length > 0 ? subresource.join('/') : undefined,
  };
}
