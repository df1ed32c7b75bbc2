/** The function put together from its ports. The embedded cluster starts it with other ports, everything after them is the same. */
import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import type { Config } from '../../src/config.ts';
import type { Cluster } from '../../src/kubernetes/cluster.ts';
import type { Members } from '../../src/mysql/members.ts';
import { readScripts } from '../../src/mysql/scripts.ts';
import type { Pass } from '../../src/pass.ts';
import { reconcile } from '../../src/reconcile.ts';
import type { MysqlRef } from '../../src/resource/names.ts';
import { type RunningServer, startServer } from '../../src/server/start.ts';

export interface FunctionOptions {
  readonly config: Config;
  readonly cluster: Cluster;
  readonly members: Members;
  readonly log: Logger;
  readonly clock?: () => Date;
  readonly host?: string;
  /** Told of every pass, for those who show them. */
  readonly onPass?: (ref: MysqlRef, pass: Pass) => void;
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** 24 letters and digits, 142 bits: harmless in every shell and every quoting. */
export const newPassword = (): string =>
  Array.from({ length: 24 }, () => LETTERS[randomInt(LETTERS.length)]).join('');

export function startFunction(options: FunctionOptions): Promise<RunningServer> {
  const { config, cluster, members, log, clock = () => new Date(), host, onPass } = options;
  const settings = { nudgeUrl: config.nudgeUrl, scripts: readScripts(), newPassword };
  return startServer({
    ...config,
    log,
    ...(host ? { host } : {}),
    reconcile: async (ref, signal) => {
      const pass = await reconcile(ref, { cluster, members, clock, settings }, signal);
      onPass?.(ref, pass);
      return pass;
    },
  });
}
