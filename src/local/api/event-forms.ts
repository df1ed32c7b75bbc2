/** One stored form for both Event APIs: core/v1. events.k8s.io/v1 says the same with other words. */
import { at, type JsonObject } from './json.ts';
import type { Kind } from './kinds.ts';

const isNew = ({ kind, group }: Kind): boolean => kind === 'Event' && group === 'events.k8s.io';

/** As it is kept. */
export const stored = (kind: Kind, object: JsonObject): JsonObject =>
  isNew(kind) ? toCoreEvent(object) : object;

/** As those who ask for `kind` see what is kept. */
export const presented = (kind: Kind, object: JsonObject): JsonObject =>
  isNew(kind) ? fromCoreEvent(object) : object;

function toCoreEvent(event: JsonObject): JsonObject {
  const { regarding, note, reportingController, deprecatedFirstTimestamp, deprecatedLastTimestamp, ...rest } =
    event;
  return {
    ...rest,
    apiVersion: 'v1',
    involvedObject: regarding ?? {},
    message: note ?? '',
    reportingComponent: reportingController ?? '',
    source: {},
    firstTimestamp: deprecatedFirstTimestamp ?? null,
    lastTimestamp: deprecatedLastTimestamp ?? null,
  };
}

function fromCoreEvent(event: JsonObject): JsonObject {
  const { involvedObject, message, reportingComponent, source, firstTimestamp, lastTimestamp, ...rest } =
    event;
  return {
    ...rest,
    apiVersion: 'events.k8s.io/v1',
    regarding: involvedObject ?? {},
    note: message ?? '',
    reportingController: reportingComponent || (at(source, 'component') ?? ''),
    deprecatedSource: source ?? {},
    ...(firstTimestamp ? { deprecatedFirstTimestamp: firstTimestamp } : {}),
    ...(lastTimestamp ? { deprecatedLastTimestamp: lastTimestamp } : {}),
  };
}
