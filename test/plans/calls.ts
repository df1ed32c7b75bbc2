/** Interceptors: one function a verb, before the `Cluster` and the `Members` port. What stands around a call may delay, fail or replace it. */
import type { Cluster, Identity, Kind, KubernetesObject } from '../../src/kubernetes/cluster.ts';
import type { Member, Members } from '../../src/mysql/members.ts';

export interface Call {
  readonly port: 'cluster' | 'members';
  readonly verb: keyof Cluster | keyof Members;
  /** What it is about, for a person: `StatefulSet db`, `db-0`. */
  readonly what: string;
  readonly namespace: string;
  readonly write: boolean;
}

/** Makes the call, on another cluster when one is given. */
export type Go<T> = (instead?: Cluster) => Promise<T>;
export type Around = <T>(call: Call, go: Go<T>) => Promise<T>;

const nameOf = (object: KubernetesObject): string => object.metadata?.name ?? '';

export function interceptCluster(cluster: Cluster, around: Around): Cluster {
  const call = (
    verb: keyof Cluster,
    write: boolean,
    kind: Kind | 'Event',
    namespace: string,
    name: string,
  ): Call => ({ port: 'cluster', verb, write, namespace, what: `${kind} ${name}`.trim() });
  const about = (verb: keyof Cluster, { kind, namespace, name }: Identity): Call =>
    call(verb, true, kind, namespace, name);
  return {
    get: (kind, namespace, name, signal) =>
      around(call('get', false, kind, namespace, name), (on = cluster) =>
        on.get(kind, namespace, name, signal),
      ),
    list: (kind, namespace, labels, signal) =>
      around(call('list', false, kind, namespace, ''), (on = cluster) =>
        on.list(kind, namespace, labels, signal),
      ),
    // only the resync reads pages, and the plans post its events themselves
    pages: (kind, options, signal) => cluster.pages(kind, options, signal),
    events: (kind, namespace, name, signal) =>
      around(call('events', false, kind, namespace, name), (on = cluster) =>
        on.events(kind, namespace, name, signal),
      ),
    apply: (kind, object, live, signal) =>
      around(call('apply', true, kind, object.metadata?.namespace ?? '', nameOf(object)), (on = cluster) =>
        on.apply(kind, object, live, signal),
      ),
    create: (kind, object, signal) =>
      around(call('create', true, kind, object.metadata?.namespace ?? '', nameOf(object)), (on = cluster) =>
        on.create(kind, object, signal),
      ),
    applyStatus: (live, status, signal) =>
      around(about('applyStatus', live), (on = cluster) => on.applyStatus(live, status, signal)),
    patchMetadata: (live, marks, signal) =>
      around(about('patchMetadata', live), (on = cluster) => on.patchMetadata(live, marks, signal)),
    delete: (live, options, signal) =>
      around(about('delete', live), (on = cluster) => on.delete(live, options, signal)),
    announce: (announcement, signal) =>
      around(
        call('announce', true, 'Event', announcement.regarding.metadata.namespace ?? '', announcement.reason),
        (on = cluster) => on.announce(announcement, signal),
      ),
  };
}

export function interceptMembers(members: Members, around: Around): Members {
  const call = (verb: keyof Members, { host, name }: Member, write = true): Call => ({
    port: 'members',
    verb,
    write,
    namespace: host.split('.')[2] ?? '',
    what: name,
  });
  return {
    report: (all, access, signal) => {
      const [first] = all;
      return first
        ? around(call('report', first, false), () => members.report(all, access, signal))
        : members.report(all, access, signal);
    },
    bootstrap: (member, access, expected, signal) =>
      around(call('bootstrap', member), () => members.bootstrap(member, access, expected, signal)),
    join: (member, access, seeds, signal) =>
      around(call('join', member), () => members.join(member, access, seeds, signal)),
    rebuild: (member, access, donor, signal) =>
      around(call('rebuild', member), () => members.rebuild(member, access, donor, signal)),
    leave: (member, access, signal) =>
      around(call('leave', member), () => members.leave(member, access, signal)),
    setPrimary: (via, access, target, signal) =>
      around(call('setPrimary', via), () => members.setPrimary(via, access, target, signal)),
  };
}
