/** A world at rest, to begin many plans from: converging anew for each would cost more than the plan itself. */
import type { Snapshot } from '../../src/local/api/store.ts';
import type { EmbeddedCluster } from '../../src/local/cluster.ts';
import type { SavedVolume } from '../../src/local/group/server.ts';

interface Counters {
  readonly now: number;
  readonly uids: number;
  readonly passwords: number;
}

export interface Rest extends Counters {
  readonly snapshot: Snapshot;
  readonly volumes: Readonly<Record<string, SavedVolume>>;
  readonly groups: readonly Group[];
}

/** One group, all of whose members are ONLINE. */
interface Group {
  readonly namespace: string;
  readonly primary: string;
  /** Pods. */
  readonly others: readonly string[];
}

export function restOf({ api, model }: EmbeddedCluster, counters: Counters): Rest {
  const snapshot = api.store.snapshot();
  const servers = snapshot.objects
    .filter(({ resource }) => resource === 'pods.')
    .flatMap(({ namespace, name }) => model.server(namespace, name) ?? []);
  const groups = [...Map.groupBy(servers, ({ view }) => view)].flatMap(([view, members]): Group[] =>
    view?.primary
      ? [
          {
            namespace: view.primary.namespace,
            primary: view.primary.pod,
            others: members.filter((member) => member !== view.primary).map(({ pod }) => pod),
          },
        ]
      : [],
  );
  return { ...counters, snapshot, volumes: model.volumes, groups };
}

/** Starts the servers of the restored pods and forms their groups again; `advance` moves time by milliseconds. */
export function adopt(cluster: EmbeddedCluster, { groups }: Rest, advance: (by: number) => void): void {
  const { model } = cluster;
  cluster.settle();
  advance(model.times.start);
  for (const { namespace, primary, others } of groups) {
    const founder = model.server(namespace, primary);
    if (!founder) throw new Error(`${namespace}/${primary} did not start`);
    model.bootstrap(founder);
    for (const pod of others) {
      const server = model.server(namespace, pod);
      if (server) model.join(server, [founder.host]);
    }
  }
  advance(model.times.recover);
}
