/** An HTTP request as a hint: CloudEvents 1.0 over HTTP, binary or structured mode, no batches. */
import type { IncomingHttpHeaders } from 'node:http';
import { CloudEvent, HTTP } from 'cloudevents';
import type { Hint } from './concern.ts';

/** Thrown for what is no CloudEvent; the message is for the sender's operator and goes to the log, never into the answer. */
export class Malformed extends Error {
  override readonly name = 'Malformed';
}

const STRUCTURED = 'application/cloudevents+json';

/** Throws Malformed. The body is only read for structured mode: in binary mode it is payload, which is never trusted. */
export function parseEvent(headers: IncomingHttpHeaders, body: string): Hint {
  // the SDK compares media types as they come: capitals and parameters would send it down other paths
  const mediaType = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (mediaType.startsWith('application/cloudevents-batch')) {
    throw new Malformed('batches are not taken: post one event a request');
  }
  const structured = mediaType.startsWith('application/cloudevents');
  if (structured && mediaType !== STRUCTURED) {
    throw new Malformed(`${mediaType} is not taken: use ${STRUCTURED}, or binary mode`);
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
  const attributes = Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('ce-')));
  requireAttributes((name) => attributes[`ce-${name}`]);
  return toEvent(attributes, undefined);
}

function structuredEvent(body: string): CloudEvent<unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch (cause) {
    throw new Malformed('the body of a structured event is no JSON', { cause });
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new Malformed('the body of a structured event must be one JSON object');
  }
  const attributes = new Map(Object.entries(parsed));
  requireAttributes((name) => attributes.get(name));
  return toEvent({ 'content-type': STRUCTURED }, body);
}

/** The SDK fills in an id, a version or a time that is missing, so what was sent is looked at before. */
function requireAttributes(sent: (name: string) => unknown): void {
  for (const name of ['specversion', 'id', 'source', 'type']) {
    const value = sent(name);
    if (typeof value !== 'string' || value === '') throw new Malformed(`the CloudEvent has no ${name}`);
  }
  if (sent('specversion') !== '1.0') throw new Malformed('this version of CloudEvents is not taken: use 1.0');
}

function toEvent(headers: IncomingHttpHeaders, body: string | undefined): CloudEvent<unknown> {
  let event: unknown;
  try {
    event = HTTP.toEvent({ headers, body });
  } catch (cause) {
    throw new Malformed(`no CloudEvent: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
  if (event instanceof CloudEvent) return event;
  throw new Malformed('no CloudEvent');
}
