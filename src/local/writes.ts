/** A write to the API server in a person's words. */
import type { Request } from '../kubernetes/request.ts';
import { LABEL } from '../resource/names.ts';
import { type JsonObject, textAt } from './api/json.ts';

export interface Write {
  /** `Service default/mysql-sample-read`. */
  readonly object: string;
  /** `applied`, `status applied`, `created`, … */
  readonly verb: string;
}

const VERBS = { POST: 'created', PATCH: 'patched', DELETE: 'deleted' } as const;
const PATH =
  /^\/apis?\/(?:[^/]+\/)?v[^/]+\/namespaces\/(?<namespace>[^/]+)\/(?<plural>[^/]+)(?:\/(?<named>[^/]+))?(?:\/(?<part>[^/]+))?$/;

/** Undefined for a read. */
export function writeOf({ method, path, body, contentType }: Request): Write | undefined {
  if (method === 'GET') return undefined;
  const { namespace, plural = path, named, part } = PATH.exec(path)?.groups ?? {};
  // what is deleted is named by the path alone
  const sent = method === 'DELETE' ? undefined : (body as JsonObject | undefined);
  const kind = textAt(sent, 'kind') ?? plural;
  if (kind === 'Event') {
    const subject = `Event ${namespace}/${textAt(sent, 'regarding', 'name')}`;
    return { object: subject, verb: `${textAt(sent, 'type')} ${textAt(sent, 'reason')}` };
  }
  const verb = contentType === 'application/apply-patch+yaml' ? 'applied' : VERBS[method];
  const role = kind === 'Pod' ? textAt(sent, 'metadata', 'labels', LABEL.role) : undefined;
  return {
    object: `${kind} ${namespace}/${named ?? textAt(sent, 'metadata', 'name')}`,
    verb: `${part ? `${part} ` : ''}${verb}${role ? `: ${role}` : ''}`,
  };
}
