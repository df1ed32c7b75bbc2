/**
 * Is there proof, without asking a single member, that a Mysql needs no look? Pure. A doubt costs one event and a pass that writes
 * nothing; a wrong proof would cost up to an hour, until the Mysql's turn comes regardless (schedule.ts).
 */
import type { Mysql, MysqlStatus } from '../resource/mysql.ts';
import { ANNOTATION, podName } from '../resource/names.ts';
import type { Summary } from './summary.ts';

/** Why a look is needed; undefined when it is proven that none is. */
export function doubtAbout(mysql: Mysql, summary: Summary | undefined): string | undefined {
  const { metadata, spec, status = {} } = mysql;
  const { name = '', annotations = {}, uid } = metadata;
  // what was asked for but not answered
  if (status.observedGeneration !== metadata.generation) return 'its spec was not looked at';
  if (ANNOTATION.rebuild in annotations || ANNOTATION.acceptDataLoss in annotations)
    return 'an annotation waits';
  if (condition(status, 'Ready')?.status !== 'True') return 'it is not Ready';
  if (condition(status, 'Progressing')?.status === 'True') return 'something is under way';
  if (spec.primary !== undefined && spec.size > 0 && status.primary !== podName(name, spec.primary)) {
    return 'its primary is not the preferred one';
  }
  // what is there, against what the status claims
  if (summary?.owner === undefined || summary.owner !== uid) return 'it has no StatefulSet of its own';
  if (summary.settledReplicas !== spec.size) return 'its StatefulSet is at work';
  if (summary.pods !== spec.size || summary.good !== spec.size)
    return 'a pod is missing, not ready or without a role';
  if (spec.size > 0 && summary.primary !== status.primary) return 'the primary is not the labelled one';
  if ((status.nodes?.length ?? 0) !== spec.size) return 'members are not ONLINE';
  // a failover within a pod shows nowhere else when every nudge was lost
  if (summary.changedAt > lastChange(status) + SLACK_MS) return 'a pod was away since the status was written';
  return undefined;
}

/** A readiness probe tells a little later than the member itself. */
const SLACK_MS = 60_000;

const condition = (status: MysqlStatus, type: string) => status.conditions?.find((one) => one.type === type);

const lastChange = ({ conditions = [] }: MysqlStatus): number =>
  Math.max(0, ...conditions.map(({ lastTransitionTime }) => Date.parse(lastTransitionTime) || 0));
