/** Node drains may take one member at a time: the others keep their majority, and the function's own rollouts do not ask. */
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts';
import type { Mysql } from '../resource/mysql.ts';
import { disruptionBudgetName, ownedLabels, selectorLabels } from '../resource/names.ts';
import { ownerReference } from './owner.ts';

export const disruptionBudget = (mysql: Mysql): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: {
    name: disruptionBudgetName(mysql.metadata.name ?? ''),
    namespace: mysql.metadata.namespace ?? '',
    labels: ownedLabels(mysql.metadata.name ?? ''),
    ownerReferences: [ownerReference(mysql)],
  },
  spec: { maxUnavailable: 1, selector: { matchLabels: selectorLabels(mysql.metadata.name ?? '') } },
});
