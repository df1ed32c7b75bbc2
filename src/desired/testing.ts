/** A Mysql for tests, as the API server would give it. */
import type { Mysql, MysqlSpec } from '../resource/mysql.ts';
import type { DesiredSettings } from './settings.ts';

export const aMysql = (spec: Partial<MysqlSpec> = {}): Mysql => ({
  apiVersion: 'example.com/v1alpha1',
  kind: 'Mysql',
  metadata: { namespace: 'shop', name: 'db', uid: 'mysql-uid', resourceVersion: '7', generation: 1 },
  spec: { size: 3, image: 'mysql:8.4', ...spec },
});

/** Passwords are counted: `password-1`, `password-2`, … */
export function someSettings(): DesiredSettings {
  let passwords = 0;
  return {
    nudgeUrl: 'http://operator.system.svc.cluster.local/',
    scripts: { 'run.sh': '#!/bin/bash\n' },
    newPassword: () => {
      passwords += 1;
      return `password-${passwords}`;
    },
  };
}
