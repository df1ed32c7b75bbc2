/** What one member tells about itself and its group, read over one session. */
import type { MemberAnswer, MemberRole, MemberState, Peer } from './members.ts';
import { type Row, rows, type Session } from './session.ts';

export async function readAnswer(name: string, session: Session): Promise<MemberAnswer> {
  const { server, dialect, version, uuid } = session;
  const [[self], peers, [view], [channel], [clone]] = await Promise.all([
    rows(server, 'SELECT @@global.gtid_executed AS executed, @@global.super_read_only AS readonly'),
    peersOf(session),
    rows(server, dialect.view),
    rows(
      server,
      'SELECT RECEIVED_TRANSACTION_SET AS received FROM performance_schema.replication_connection_status' +
        " WHERE CHANNEL_NAME = 'group_replication_applier'",
    ),
    dialect.clone ? rows(server, dialect.clone) : [],
  ]);
  const own = peers.find((peer) => peer.uuid === uuid);
  const up = own !== undefined && own.state !== 'OFFLINE';
  const [refusal] = own?.state === 'ONLINE' || !dialect.refusal ? [] : await rows(server, dialect.refusal);
  return {
    answered: true,
    name,
    uuid,
    version,
    state: own?.state ?? 'OFFLINE',
    role: own?.role,
    viewId: up && view?.view ? String(view.view) : undefined,
    peers: up ? peers : [],
    executed: compact(self?.executed),
    received: compact(channel?.received),
    superReadOnly: Number(self?.readonly) === 1,
    cloning: clone?.state === 'In Progress',
    trouble: refusal ? said(refusal) : clone?.state === 'Failed' ? `clone failed: ${said(clone)}` : '',
  };
}

/** OFFLINE when the server knows of no group. */
export const ownState = async (session: Session): Promise<MemberState> =>
  (await peersOf(session)).find((peer) => peer.uuid === session.uuid)?.state ?? 'OFFLINE';

const peersOf = async ({ server, dialect }: Session): Promise<Peer[]> =>
  // a server that never was in a group tells one member without an id
  (await rows(server, dialect.peers)).filter((row) => row.id).map(toPeer);

const STATES: readonly MemberState[] = ['ONLINE', 'RECOVERING', 'OFFLINE', 'ERROR', 'UNREACHABLE'];
const ROLES: readonly MemberRole[] = ['PRIMARY', 'SECONDARY'];

const toPeer = (row: Row): Peer => ({
  uuid: String(row.id),
  host: String(row.host ?? ''),
  state: STATES.find((state) => state === row.state) ?? 'OFFLINE',
  role: ROLES.find((role) => role === row.role),
});

/** MySQL breaks long sets into lines. */
export const compact = (set: unknown): string => String(set ?? '').replace(/\s+/g, '');

/** A message without the words that the server puts around what a plugin says. */
const said = ({ message }: Row): string =>
  String(message ?? '').replace(/^Plugin \w+ reported: '(.*)'$/s, '$1');
