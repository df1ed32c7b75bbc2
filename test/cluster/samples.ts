/** Mysqls that the stories apply. */
import { suite } from './names.ts';

const mysql = (name: string, spec: object) => ({
  apiVersion: 'example.com/v1alpha1',
  kind: 'Mysql',
  metadata: { name },
  spec,
});

/** Gets all its objects, and pods that no node takes: for stories that are not about MySQL. Such pods post no nudges either. */
export const lightMysql = (name: string, spec: object = {}) =>
  mysql(name, {
    size: 1,
    image: 'dev.local/no-mysql:1',
    podTemplate: { nodeSelector: { 'mysql-operator-test': 'no-such-node' } },
    ...spec,
  });

/** Runs. */
export const realMysql = (name: string, spec: object = {}) =>
  mysql(name, { size: 3, image: suite().mysqlImage, storage: { size: '1Gi' }, ...spec });
