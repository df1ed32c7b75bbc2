/** The ConfigMap `<name>-config`: my.cnf, the pod's scripts and the address for nudges. Nothing in it restarts a running member. */
import type { ConfigMap } from 'kubernetes-types/core/v1.d.ts';
import { myCnf } from '../mysql/config.ts';
import type { Mysql } from '../resource/mysql.ts';
import { configMapName, ownedLabels } from '../resource/names.ts';
import { ownerReference } from './owner.ts';
import { groupName } from './secret.ts';
import type { DesiredSettings } from './settings.ts';

export function configMap(
  mysql: Mysql,
  liveGroupName: string | undefined,
  settings: DesiredSettings,
): ConfigMap {
  const { namespace = '', name = '' } = mysql.metadata;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: configMapName(name),
      namespace,
      labels: ownedLabels(name),
      ownerReferences: [ownerReference(mysql)],
    },
    data: {
      ...settings.scripts,
      'my.cnf': myCnf(liveGroupName ?? groupName(namespace, name), mysql.spec.config),
      'nudge-url': settings.nudgeUrl,
    },
  };
}
