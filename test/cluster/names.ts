/** Where the operator is installed, and how its pods are found. */
export const NAMESPACE = 'mysql-operator';
export const FUNCTION_PODS = 'serving.knative.dev/service=mysql-operator';
/** The pods of the event source's adapter, and their Deployment. */
export const ADAPTER = 'eventing.knative.dev/sourceName=mysql-operator';
/** On the namespaces that the suite makes. */
export const TEST_LABEL = 'mysql-operator-test';

/** What run.ts tells the test files. */
export interface Suite {
  /** Image of the function, and where its log is collected. */
  readonly image: string;
  readonly log: string;
  readonly overlay: string;
  /** An image with MySQL that the nodes have or can get. */
  readonly mysqlImage: string;
  /** Another one, of the same or a later version: what an upgrade goes to. */
  readonly nextMysqlImage?: string | undefined;
  /** Where dumps of failed stories go. */
  readonly dumps: string;
}

export function suite(): Suite {
  const text = process.env.CLUSTER_SUITE;
  if (!text) throw new Error('start these with `npm run test:cluster`: they need an installed operator');
  return JSON.parse(text) as Suite;
}
