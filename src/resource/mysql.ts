/** The Mysql resource as TypeScript. The spec and status types are generated from crds/mysql.yaml (`npm run generate`). */
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import type { MysqlSpec, MysqlStatus } from './mysql.generated.ts';

export type { MysqlSpec, MysqlStatus } from './mysql.generated.ts';

export interface Mysql {
  readonly apiVersion: 'example.com/v1alpha1';
  readonly kind: 'Mysql';
  readonly metadata: ObjectMeta;
  readonly spec: MysqlSpec;
  readonly status?: MysqlStatus;
}

export type Condition = NonNullable<MysqlStatus['conditions']>[number];
export type BootstrapRecord = NonNullable<MysqlStatus['bootstrap']>;
export type MemberStatus = NonNullable<MysqlStatus['members']>[number];
