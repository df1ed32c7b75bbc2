/** What a pass, a create and a failover ask of the API server: counted, not timed, in one process. */
import { refKey } from '../../src/resource/names.ts';
import { nudge } from '../function/server.ts';
import { aWorld, mysqlYaml } from '../function/world.ts';

export interface Asked {
  readonly passes: number;
  readonly requests: number;
  readonly writes: number;
}

export interface RequestCounts {
  readonly noop: Asked;
  readonly create: Asked;
  readonly failover: Asked;
}

export async function countRequests(): Promise<RequestCounts> {
  await using world = await aWorld();
  const key = refKey({ namespace: 'default', name: 'bench' });
  const since = () => ({ passes: world.passes.length, requests: world.requests.length });
  const asked = (from: ReturnType<typeof since>): Asked => ({
    passes: world.passes.length - from.passes,
    requests: world.requests.length - from.requests,
    writes: world.requests.slice(from.requests).filter(({ method }) => method !== 'GET').length,
  });
  const settle = async () => {
    for (;;) {
      await world.post(nudge(key));
      const last = world.passes.at(-1)?.pass;
      if (last?.state === 'Healthy' && last.writes === 0 && !last.again) return;
    }
  };
  const fresh = since();
  world.cluster.applyYaml(mysqlYaml('bench'));
  await settle();
  const create = asked(fresh);

  const quiet = since();
  await world.post(nudge(key));
  const noop = asked(quiet);

  const before = since();
  const primary = world.cluster.model
    .clusterOf('default', 'bench')
    .find((server) => server.role === 'PRIMARY');
  if (primary) world.cluster.model.kill(primary);
  await world.post(nudge(key));
  await settle();
  return { noop, create, failover: asked(before) };
}
