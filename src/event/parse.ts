/** An HTTP request as a hint: CloudEvents 1.0 over HTTP, binary or structured mode, no batches. */
import type { IncomingHttpHeaders } from 'node:http';
import { CloudEvent, HTTP } from 'cloudevents';
import type { Hint } from './concern.ts';

/** Thrown for what is no CloudEvent; the message is for the sender's operator and goes to the log, never into the answer. */
export class Malformed extends Error {
  override readonly name = 'Malformed';
}

/** Throws Malformed. The body is only read for structured mode: in binary mode it is payload, which is never trusted. */
export function parseEvent(headers: IncomingHttpHeaders, body: string): Hint {
  // the SDK compares media types as they come: capitals and parameters would send it down other paths
  const mediaType = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (mediaType.startsWith('application/cloudevents-batch')) {
    throw new Malformed('batches are not taken: post one event a request');
  }
  const structured = mediaType.startsWith('application/cloudevents');
  if (structured && mediaType !== 'application/cloudevents+json') {
    throw new Malformed(`${mediaType} is not taken: use application/cloudevents+json, or binary mode`);
  }
  const event = structured ? structuredEvent(body.trim()) : binaryEvent(headers);
  const text = (name: string): string | undefined => {
    const value: unknown = event[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  return {
    type: event.type,
    subject: text('subject'),
    kind: text('kind'),
    apiversion: text('apiversion'),
    name: text('name'),
    namespace: text('namespace'),
  };
}

function binaryEvent(headers: IncomingHttpHeaders): CloudEvent<unknown> {
  // only attributes: a body that is no JSON must not keep the event from being understood
  const attributes = Object.entries(headers).filter(([name]) => name.startsWith('ce-'));
  return validated(() => HTTP.toEvent({ headers: Object.fromEntries(attributes), body: undefined }));
}

function structuredEvent(body: string): CloudEvent<unknown> {
  return validated(() => {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
      throw new Malformed('the body of a structured event must be one JSON object');
    }
    return new CloudEvent(parsed as Record<string, unknown>, false);
  });
}

function validated(make: () => unknown): CloudEvent<unknown> {
  try {
    const event = make();
    if (!(event instanceof CloudEvent)) throw new Malformed('no CloudEvent: are the ce- headers there?');
    for (const attribute of ['specversion', 'id', 'source', 'type'] as const) {
      if (typeof event[attribute] !== 'string' || event[attribute] === '') {
        throw new Malformed(`the CloudEvent has no ${attribute}`);
      }
    }
    if (event.specversion !== '1.0')
      throw new Malformed(`CloudEvents ${event.specversion} is not taken: use 1.0`);
    return event;
  } catch (cause) {
    if (cause instanceof Malformed) throw cause;
    throw new Malformed(`no CloudEvent: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}
