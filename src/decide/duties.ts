/**
 * What is safely done whatever the state is (Paused apart): labels after the majority's view, owned objects that are missing or
 * were edited, members that may join. None of it can make anything worse.
 */
import { changes, type DesiredSettings, type Membership } from '../desired/index.ts';
import { identityOf } from '../kubernetes/cluster.ts';
import { isEmpty } from '../mysql/gtid.ts';
import { ANNOTATION, LABEL } from '../resource/names.ts';
import type { Facts, Standing } from './facts.ts';
import { foreignChildren } from './name-conflict.ts';
import type { Action } from './verdict.ts';

/** role and reads labels of every pod that has others than it should. */
export const relabel = (facts: Facts): readonly Action[] =>
  facts.standings.flatMap((standing): Action[] => {
    const wanted = wantedLabels(facts, standing);
    const { pod } = standing;
    if (!wanted || !pod) return [];
    const live = pod.metadata?.labels ?? {};
    const labels = { [LABEL.role]: wanted.role, [LABEL.reads]: wanted.reads };
    return Object.entries(labels).every(([key, value]) => (live[key] ?? null) === value)
      ? []
      : [{ do: 'relabel', target: identityOf('Pod', pod), labels }];
  });

interface Wanted {
  readonly role: 'primary' | 'secondary' | null;
  readonly reads: 'true' | null;
}
const NONE: Wanted = { role: null, reads: null };

/**
 * In a group, the majority decides. Without one, a member that answers and is not up loses its labels; one that is silent, or says it
 * is up, keeps them: our own blindness must not take a Service down.
 */
function wantedLabels(facts: Facts, standing: Standing): Wanted | undefined {
  if (!facts.group) {
    const up = standing.answer?.state === 'ONLINE' || standing.answer?.state === 'RECOVERING';
    return standing.answer && !up ? NONE : undefined;
  }
  if (!standing.inGroup || standing.state !== 'ONLINE') return NONE;
  const isPrimary = standing.ordinal === facts.primary?.ordinal;
  return {
    role: isPrimary ? 'primary' : 'secondary',
    reads: !isPrimary || facts.online.length === 1 ? 'true' : null,
  };
}

/** Owned objects that are missing or not as desired; what belongs to somebody else is left alone. */
export function restore(facts: Facts, membership: Membership, settings: DesiredSettings): readonly Action[] {
  const foreign = new Set(
    foreignChildren(facts.observed).map((object) => `${object.kind}/${object.metadata?.name}`),
  );
  return changes(facts.observed, membership, settings)
    .filter(({ kind, object }) => !foreign.has(`${kind}/${object.metadata?.name}`))
    .map(({ verb, kind, object, live }) =>
      verb === 'create' ? { do: 'create', kind, object } : { do: 'apply', kind, object, live },
    );
}

/**
 * Members that answer, are in no group, hold nothing errant and are to stay: they join the group that is there. As long as the group
 * still lists an earlier incarnation, it would refuse the new one.
 */
export function join(facts: Facts): readonly Action[] {
  const seeds = facts.online.flatMap((standing) => standing.member ?? []);
  if (seeds.length === 0) return [];
  return facts.wanted.flatMap((standing): Action[] => {
    const { answer, member } = standing;
    const mayJoin =
      answer &&
      !standing.listed &&
      !standing.leaving &&
      (answer.state === 'OFFLINE' || answer.state === 'ERROR') &&
      !answer.cloning &&
      isEmpty(standing.errant);
    return mayJoin && member ? [{ do: 'join', member, seeds }] : [];
  });
}

/** Annotations that did their work: an accepted loss once there is a group again, a rebuild once its member is ONLINE. */
export function cleanUp(facts: Facts): readonly Action[] {
  const annotations = facts.observed.mysql.metadata.annotations ?? {};
  if (!facts.group) return [];
  const rebuilt = facts.online.some((standing) => standing.name === annotations[ANNOTATION.rebuild]);
  const keys = [
    ...(ANNOTATION.acceptDataLoss in annotations ? [ANNOTATION.acceptDataLoss] : []),
    ...(rebuilt ? [ANNOTATION.rebuild] : []),
  ];
  return keys.length === 0
    ? []
    : [{ do: 'removeAnnotations', target: identityOf('Mysql', facts.observed.mysql), keys }];
}
