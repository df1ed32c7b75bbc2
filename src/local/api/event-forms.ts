/** One stored form for both Event APIs: core/v1. events.k8s.io/v1 says the same with other words. */
import { at, type JsonObject } from './json.ts';

export function toCoreEvent(event: JsonObject): JsonObject {
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

export function fromCoreEvent(event: JsonObject): JsonObject {
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
