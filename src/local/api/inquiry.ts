/** What a client asks for, read from the query, the headers and the body of its request. */
import type { IncomingHttpHeaders } from 'node:http';
import { parse as parseYaml } from 'yaml';
import type { PatchType, WriteOptions } from './api.ts';
import type { DeleteOptions } from './deletion.ts';
import { isObject, type Json, type JsonObject, textAt } from './json.ts';
import type { Kind } from './kinds.ts';
import { fieldSelector, labelSelector, type Selector } from './selectors.ts';
import { invalid, StatusError } from './status-error.ts';

const MEDIA: Readonly<Record<string, PatchType>> = {
  'application/apply-patch+yaml': 'apply',
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
};

export class Inquiry {
  readonly query: URLSearchParams;
  readonly #kind: Kind;
  readonly #headers: IncomingHttpHeaders;
  readonly #body: string;

  constructor(kind: Kind, query: URLSearchParams, headers: IncomingHttpHeaders, body: string) {
    this.#kind = kind;
    this.query = query;
    this.#headers = headers;
    this.#body = body;
  }

  get wantsTable(): boolean {
    return (this.#headers.accept ?? '').includes('as=Table');
  }

  /** Throws UnsupportedMediaType. */
  get patchType(): PatchType {
    const media = this.#media;
    const type = MEDIA[media];
    // custom resources know no strategic merge
    const accepted = Object.keys(MEDIA).filter((one) => !this.#kind.schema || MEDIA[one] !== 'strategic');
    if (type && accepted.includes(media)) return type;
    throw new StatusError(
      'UnsupportedMediaType',
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    );
  }

  /** Undefined when everything is asked for. Throws BadRequest. */
  get selector(): Selector | undefined {
    const labels = this.query.get('labelSelector');
    const fields = this.query.get('fieldSelector');
    if (!labels && !fields) return undefined;
    const byLabel = labelSelector(labels ?? undefined);
    const byField = fieldSelector(this.#kind, fields ?? undefined);
    return (object) => byLabel(object) && byField(object);
  }

  /** JSON, or YAML as apply may send it. Throws BadRequest. */
  get body(): Json {
    try {
      return /^\s*[{[]/.test(this.#body) ? JSON.parse(this.#body) : parseYaml(this.#body);
    } catch (error) {
      throw new StatusError('BadRequest', `error decoding the body: ${(error as Error).message}`);
    }
  }

  /** Throws BadRequest. */
  get object(): JsonObject {
    const { body } = this;
    if (!isObject(body)) throw new StatusError('BadRequest', 'the body of the request must be an object');
    return body;
  }

  /** `warn` is told of fields that are dropped, where that is not an error. */
  writeOptions(warn: (text: string) => void): WriteOptions {
    const validation = this.query.get('fieldValidation');
    // like the real one: apply has to name its manager, for the rest the client's name will do
    const agent = MEDIA[this.#media] === 'apply' ? undefined : this.#headers['user-agent']?.split('/')[0];
    const manager = this.query.get('fieldManager') ?? agent;
    return {
      ...(manager ? { manager } : {}),
      dryRun: this.#dryRun('PatchOptions', this.query.getAll('dryRun')),
      onDropped: (fields) => {
        const list = fields.map((field) => `unknown field "${field}"`);
        if (validation === 'Strict') {
          const { kind, version } = this.#kind;
          const why = `strict decoding error: ${list.join(', ')}`;
          const what = `${kind} in version "${version}" cannot be handled as a ${kind}`;
          throw new StatusError('BadRequest', `${what}: ${why}`);
        }
        if (validation !== 'Ignore') list.forEach(warn);
      },
    };
  }

  /** From the body, as kubectl sends them, or the query. */
  deleteOptions(): DeleteOptions {
    const body = this.#body === '' ? {} : this.object;
    const grace = body.gracePeriodSeconds ?? this.query.get('gracePeriodSeconds');
    const propagation = textAt(body, 'propagationPolicy') ?? this.query.get('propagationPolicy');
    const uid = textAt(body, 'preconditions', 'uid');
    const resourceVersion = textAt(body, 'preconditions', 'resourceVersion');
    const dryRun = Array.isArray(body.dryRun) ? body.dryRun.map(String) : this.query.getAll('dryRun');
    return {
      ...(uid ? { uid } : {}),
      ...(resourceVersion ? { resourceVersion } : {}),
      ...(propagation === 'Orphan' || propagation === 'Foreground' || propagation === 'Background'
        ? { propagation }
        : {}),
      ...(grace === undefined || grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
      dryRun: this.#dryRun('DeleteOptions', dryRun),
    };
  }

  get #media(): string {
    return (this.#headers['content-type'] ?? '').split(';')[0]?.trim() ?? '';
  }

  #dryRun(options: string, asked: readonly string[]): boolean {
    const wrong = asked.find((one) => one !== 'All' && one !== '');
    if (wrong === undefined) return asked.includes('All');
    const message = `Unsupported value: ${JSON.stringify(wrong)}: supported values: "All"`;
    throw invalid(options, 'meta.k8s.io', '', [
      { field: 'dryRun', reason: 'FieldValueNotSupported', message },
    ]);
  }
}
