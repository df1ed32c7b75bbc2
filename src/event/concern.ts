/**
 * Which Mysql does an event concern? Only names are taken from it, and only when they are names: all else is read live. A Pod is
 * traced to its Mysql by its own name, which costs no read and works for a pod that is already gone.
 */
import { API_VERSION, KIND, type MysqlRef, parsePodName } from '../resource/names.ts';

/** What of a CloudEvent matters here. Attribute values are the sender's words. */
export interface Hint {
  readonly type: string;
  readonly subject: string | undefined;
  /** Extensions of the ApiServerSource: kind, apiversion, name, namespace. */
  readonly kind: string | undefined;
  readonly apiversion: string | undefined;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
}

export type Concern =
  | { readonly is: 'mysql'; readonly ref: MysqlRef; readonly trigger: string }
  /** Well-formed, but nobody's: another kind, or a pod that is no member. */
  | { readonly is: 'nobody'; readonly why: string }
  | { readonly is: 'malformed'; readonly why: string };

/** Our own types: subject `namespace/name`; anyone may post them by hand. */
export const NUDGE = 'com.example.mysql.nudge';
export const RESYNC = 'com.example.mysql.resync';
const ADAPTER = /^dev\.knative\.apiserver\.(ref|resource)\.(add|update|delete)$/;

/** A namespace is an RFC 1123 label, an object's name a subdomain made of such (Kubernetes API reference, Names). */
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const isLabel = (text: string): boolean => text.length <= 63 && LABEL.test(text);
const isName = (text: string): boolean =>
  text.length <= 253 && text.split('.').every((part) => LABEL.test(part));

export function concernOf(hint: Hint): Concern {
  if (hint.type === NUDGE || hint.type === RESYNC) return fromSubject(hint);
  return ADAPTER.test(hint.type)
    ? fromAdapter(hint)
    : { is: 'nobody', why: `events of type ${hint.type} are not ours` };
}

function fromSubject({ type, subject }: Hint): Concern {
  const [namespace = '', name = '', ...rest] = (subject ?? '').split('/');
  if (rest.length > 0 || !isLabel(namespace) || !isName(name)) {
    return {
      is: 'malformed',
      why: `ce-subject must be namespace/name of a Mysql, not ${JSON.stringify(subject ?? '')}`,
    };
  }
  return { is: 'mysql', ref: { namespace, name }, trigger: type };
}

/** The extensions say it; the subject `/apis/<apiVersion>/namespaces/<ns>/<plural>/<name>` says it again for who leaves them out. */
function fromAdapter(hint: Hint): Concern {
  const path = /^\/apis\/(.+)\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(hint.subject ?? '');
  const kind = hint.kind ?? (path?.[3] === 'mysqls' ? KIND : path?.[3] === 'pods' ? 'Pod' : undefined);
  const apiVersion = hint.apiversion ?? path?.[1];
  const namespace = hint.namespace ?? path?.[2] ?? '';
  const name = hint.name ?? path?.[4] ?? '';
  if (kind === undefined || !isLabel(namespace) || !isName(name)) {
    return { is: 'malformed', why: 'ce-kind, ce-namespace and ce-name (or ce-subject) must name an object' };
  }
  if (kind === KIND && apiVersion === API_VERSION)
    return { is: 'mysql', ref: { namespace, name }, trigger: hint.type };
  const pod = kind === 'Pod' && apiVersion === 'v1' ? parsePodName(name) : undefined;
  return pod
    ? { is: 'mysql', ref: { namespace, name: pod.cluster }, trigger: `${hint.type} Pod` }
    : { is: 'nobody', why: `${kind} ${namespace}/${name} belongs to no Mysql` };
}
