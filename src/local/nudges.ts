/** What the probe in each pod does: it posts a nudge when the member's role changed, a peer fell silent, or it is not ONLINE. */
import { NUDGE } from '../event/concern.ts';
import type { GroupModel } from './group/model.ts';
import type { Server } from './group/server.ts';

export interface NudgeOptions {
  readonly model: GroupModel;
  /** Sends a nudge for the Mysql; failures are its own matter, a nudge may be lost. */
  readonly send: (namespace: string, cluster: string) => void;
  /** Milliseconds between nudges of one member that has nothing new to say. */
  readonly every: number;
}

/** Returns what to call now and then (each probe period) with the time in milliseconds. */
export function nudging({ model, send, every }: NudgeOptions): (now: number) => void {
  const said = new Map<Server, { what: string; at: number }>();
  const servers = new Set<Server>();
  model.onChange((server) => servers.add(server));
  return (now) => {
    for (const server of servers) {
      if (model.server(server.namespace, server.pod) !== server) {
        servers.delete(server);
        said.delete(server);
        continue;
      }
      if (!server.answers) continue;
      const peers = server.peersAt(model.now, model.times.unreachable);
      const trouble = server.state !== 'ONLINE' || peers.some((peer) => peer.state === 'UNREACHABLE');
      const what = `${server.state} ${server.role ?? ''} ${trouble}`;
      const last = said.get(server);
      if (last?.what === what && !(trouble && now - last.at >= every)) continue;
      said.set(server, { what, at: now });
      send(server.namespace, server.cluster);
    }
  };
}

/** The request that bash makes over /dev/tcp (src/mysql/scripts/probe.sh). */
export const nudgeHeaders = (namespace: string, cluster: string, id: string): Record<string, string> => ({
  'ce-specversion': '1.0',
  'ce-type': NUDGE,
  'ce-source': `/mysql/${namespace}/${cluster}`,
  'ce-id': id,
  'ce-subject': `${namespace}/${cluster}`,
});
