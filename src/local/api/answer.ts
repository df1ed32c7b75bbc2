/** JSON over HTTP, as the API server sends it. */
import type { ServerResponse } from 'node:http';
import type { JsonObject } from './json.ts';

export function send(
  response: ServerResponse,
  status: number,
  body: JsonObject,
  headers: Record<string, string | string[]> = {},
): void {
  const text = `${JSON.stringify(body)}\n`;
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...headers,
    })
    .end(text);
}
