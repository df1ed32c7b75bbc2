/** Every object that a Mysql owns, as it should be, and whether a live one is so. */
import type { Identity, Kind, Kinds } from '../kubernetes/cluster.ts';
import { identityOf } from '../kubernetes/cluster.ts';
import type { Observed } from '../observe/observed.ts';
import { grownClaim } from './claims.ts';
import { configMap } from './config-map.ts';
import { isHeldBy, withDigest } from './digest.ts';
import { disruptionBudget } from './disruption-budget.ts';
import { mendedSecret, newSecret, SECRET_KEY, valueIn } from './secret.ts';
import { nodesService, primaryService, readService } from './services.ts';
import type { DesiredSettings, Membership } from './settings.ts';
import { statefulSet } from './statefulset.ts';

export type { DesiredSettings, Membership } from './settings.ts';

/** One write that brings an owned object to what it should be. */
export interface Change<K extends Kind = Kind> {
  readonly verb: 'create' | 'apply';
  readonly kind: K;
  readonly object: Kinds[K];
  readonly live: Identity | undefined;
}

/** The writes that are due, in the order in which they should be done; none when all is as desired. */
export function changes(
  observed: Observed,
  membership: Membership,
  settings: DesiredSettings,
): readonly Change[] {
  const { mysql, children } = observed;
  const liveGroupName = valueIn(children.secret, SECRET_KEY.groupName);
  return [
    ...secretChange(observed, settings),
    ...change('ConfigMap', configMap(mysql, liveGroupName, settings), children.configMap),
    ...change('Service', nodesService(mysql), children.nodesService),
    ...change('Service', primaryService(mysql), children.primaryService),
    ...change('Service', readService(mysql), children.readService),
    ...change('PodDisruptionBudget', disruptionBudget(mysql), children.disruptionBudget),
    ...change('StatefulSet', statefulSet(mysql, membership, children.statefulSet), children.statefulSet),
    ...observed.claims.flatMap((live): Change[] => {
      const object = grownClaim(mysql, live);
      const kind = 'PersistentVolumeClaim';
      return object ? [{ verb: 'apply', kind, object, live: identityOf(kind, live) }] : [];
    }),
  ];
}

function change<K extends Kind>(kind: K, wanted: Kinds[K], live: Kinds[K] | undefined): Change<K>[] {
  const object = withDigest(wanted);
  if (!live) return [{ verb: 'apply', kind, object, live: undefined }];
  return isHeldBy(object, live) ? [] : [{ verb: 'apply', kind, object, live: identityOf(kind, live) }];
}

function secretChange({ mysql, children: { secret } }: Observed, { newPassword }: DesiredSettings): Change[] {
  const kind = 'Secret';
  if (!secret) return [{ verb: 'create', kind, object: newSecret(mysql, newPassword), live: undefined }];
  const object = mendedSecret(secret, mysql, newPassword);
  return object ? [{ verb: 'apply', kind, object, live: identityOf(kind, secret) }] : [];
}
