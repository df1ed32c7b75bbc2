/** What happens, a line each: for a person, or as JSON. */
import { styleText } from 'node:util';
import type { Pass } from '../pass.ts';
import { type MysqlRef, refKey } from '../resource/names.ts';
import type { ForwardedEvent } from './forwarder.ts';

type Colour = 'green' | 'yellow' | 'red' | 'cyan' | 'dim' | 'bold';

export class Show {
  readonly #json: boolean;
  readonly #started = performance.now();
  #ended = false;

  constructor(json: boolean) {
    this.#json = json;
  }

  get seconds(): number {
    return Math.round((performance.now() - this.#started) / 100) / 10;
  }

  note(text: string): void {
    if (this.#json) this.#line({ note: text });
    else console.log(text);
  }

  event({ kind, namespace, name, verb, status, tries }: ForwardedEvent): void {
    if (this.#json) return this.#line({ event: verb, kind, namespace, name, status, tries });
    const again = tries > 1 ? `, ${tries} tries` : '';
    this.#row('event', 'dim', `${kind} ${namespace}/${name}`, `${verb} → ${status || 'no answer'}${again}`);
  }

  nudge(ref: MysqlRef, status: number): void {
    if (this.#json) return this.#line({ nudge: refKey(ref), status });
    this.#row('nudge', 'dim', refKey(ref), `→ ${status || 'no answer'}`);
  }

  write(verb: string, what: string): void {
    if (this.#json) return this.#line({ write: verb, object: what });
    this.#row('write', 'cyan', what, verb);
  }

  pass(ref: MysqlRef, pass: Pass): void {
    if (this.#json)
      return this.#line({
        pass: refKey(ref),
        state: pass.state,
        message: pass.message,
        writes: pass.writes,
        failure: pass.failure?.message,
      });
    const colour: Colour = pass.failure ? 'red' : pass.state === 'Healthy' ? 'green' : 'yellow';
    const failure = pass.failure ? ` (${pass.failure.message})` : '';
    this.#row('pass', colour, refKey(ref), `${pass.state}: ${pass.message}${failure}`);
  }

  /** The last line: what still happens while everything is being ended is not shown any more. */
  result(object: Readonly<Record<string, unknown>>): void {
    console.log(JSON.stringify(object));
    this.#ended = true;
  }

  #row(what: string, colour: Colour, subject: string, text: string): void {
    if (this.#ended) return;
    const time = `${this.seconds.toFixed(1)}s`.padStart(7);
    console.log(`${time}  ${styleText(colour, what.padEnd(6))} ${subject.padEnd(34)} ${text}`);
  }

  #line(object: Readonly<Record<string, unknown>>): void {
    if (this.#ended) return;
    console.log(JSON.stringify({ seconds: this.seconds, ...object }));
  }
}
