/** What happens, a line each: for a person, or as JSON. */
import { styleText } from 'node:util';
import type { Pass } from '../pass.ts';
import { type MysqlRef, refKey } from '../resource/names.ts';
import type { ForwardedEvent } from './forwarder.ts';
import type { Write } from './writes.ts';

type Colour = 'green' | 'yellow' | 'red' | 'cyan' | 'dim' | 'bold';

/** Wide enough for the sample's longest: `PodDisruptionBudget default/mysql-sample`. */
const SUBJECT_WIDTH = 40;

export class Show {
  readonly #json: boolean;
  readonly #started = performance.now();
  /** The last pass that was shown of each Mysql: one that says the same again and wrote nothing is none of a person's business. */
  readonly #said = new Map<string, string>();
  #ended = false;

  constructor(json: boolean) {
    this.#json = json;
  }

  get seconds(): number {
    return Math.round((performance.now() - this.#started) / 100) / 10;
  }

  /** Prose for a person, facts for a program. */
  say(text: string, facts: Readonly<Record<string, unknown>>): void {
    if (this.#json) this.#line(facts);
    else console.log(text);
  }

  event({ kind, namespace, name, verb, status, tries }: ForwardedEvent): void {
    const again = tries > 1 ? `, ${tries} tries` : '';
    this.#row('event', 'dim', `${kind} ${namespace}/${name}`, `${verb} → ${status || 'no answer'}${again}`, {
      event: verb,
      kind,
      namespace,
      name,
      status,
      tries,
    });
  }

  nudge(ref: MysqlRef, status: number): void {
    const key = refKey(ref);
    this.#row('nudge', 'dim', `Mysql ${key}`, `→ ${status || 'no answer'}`, { nudge: key, status });
  }

  resync(text: string): void {
    this.#row('resync', 'dim', 'all', text, { resync: text });
  }

  write({ object, verb }: Write): void {
    this.#row('write', 'cyan', object, verb, { write: verb, object });
  }

  pass(ref: MysqlRef, { state, message, writes, failure }: Pass): void {
    const key = refKey(ref);
    const colour = failure ? 'red' : state === 'Healthy' ? 'green' : 'yellow';
    const text = `${state}: ${message}${failure ? ` (${failure.message})` : ''}`;
    if (writes === 0 && this.#said.get(key) === text) return;
    this.#said.set(key, text);
    this.#row('pass', colour, `Mysql ${key}`, text, {
      pass: key,
      state,
      message,
      writes,
      ...(failure ? { failure: failure.message } : {}),
    });
  }

  ready(key: string, ready: boolean, message: string): void {
    const facts = { ready, mysql: key, message };
    this.#row(ready ? 'ready' : 'wait', ready ? 'green' : 'yellow', `Mysql ${key}`, message, facts);
  }

  /** The last line: what still happens while everything is being ended is not shown any more. */
  result(object: Readonly<Record<string, unknown>>): void {
    console.log(JSON.stringify(object));
    this.#ended = true;
  }

  #row(
    what: string,
    colour: Colour,
    subject: string,
    text: string,
    facts: Readonly<Record<string, unknown>>,
  ): void {
    if (this.#json) return this.#line(facts);
    if (this.#ended) return;
    const time = `${this.seconds.toFixed(1)}s`.padStart(7);
    console.log(`${time}  ${styleText(colour, what.padEnd(6))} ${subject.padEnd(SUBJECT_WIDTH)} ${text}`);
  }

  #line(facts: Readonly<Record<string, unknown>>): void {
    if (!this.#ended) console.log(JSON.stringify({ seconds: this.seconds, ...facts }));
  }
}
