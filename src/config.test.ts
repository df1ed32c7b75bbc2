import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  functionHelp,
  InvalidConfig,
  readConfig,
  readFlags,
  readResyncConfig,
  resyncHelp,
} from './config.ts';

describe('the function', () => {
  test('runs with an empty environment', () => {
    const config = readConfig({}, undefined);
    assert.equal(config.port, 8_080);
    assert.equal(config.replyBudget, 2_000);
    assert.equal(config.passDeadline, 20_000);
    assert.equal(config.concurrency, 16);
    assert.equal(config.kubeconfig, undefined);
  });

  test('members post to the Knative Service that it is, in its namespace', () => {
    assert.equal(readConfig({ K_SERVICE: 'ours' }, 'db').nudgeUrl, 'http://ours.db.svc.cluster.local/');
    assert.equal(
      readConfig({ K_SERVICE: 'ours', NUDGE_URL: 'http://10.0.0.1:80/' }, 'db').nudgeUrl,
      'http://10.0.0.1:80/',
    );
  });

  test('an empty variable is as good as none', () => {
    assert.deepEqual(
      readConfig({ PORT: '', LOG_LEVEL: '', KUBECONFIG: '', NUDGE_URL: '' }, ''),
      readConfig({}, undefined),
    );
  });

  const refused = [
    ['PORT', '80a', /PORT must be a whole number from 0 to 65535, not "80a"/],
    ['PORT', '65536', /PORT/],
    ['PORT', '-1', /PORT/],
    ['REPLY_BUDGET_MS', '1.5', /REPLY_BUDGET_MS/],
    ['CONCURRENCY', '0', /CONCURRENCY must be a whole number from 1/],
    ['LOG_LEVEL', 'loud', /LOG_LEVEL must be one of fatal, .*, not "loud"/],
    ['NUDGE_URL', 'ours', /NUDGE_URL must be an http:\/\/ address/],
    ['NUDGE_URL', 'https://ours/', /NUDGE_URL/],
  ] as const;
  for (const [name, value, message] of refused) {
    test(`${name}=${value} is refused by name, with what would do`, () => {
      assert.throws(
        () => readConfig({ [name]: value }, undefined),
        (error) => error instanceof InvalidConfig && message.test(error.message),
      );
    });
  }
});

describe('the resync', () => {
  test('needs a sink', () => {
    assert.throws(() => readResyncConfig({}), /K_SINK must be the function's address/);
    assert.throws(() => readResyncConfig({ K_SINK: 'ours' }), InvalidConfig);
    assert.equal(readResyncConfig({ K_SINK: 'http://ours.db.svc' }).sink.host, 'ours.db.svc');
  });

  test('takes the extensions that a SinkBinding asks for', () => {
    const env = { K_SINK: 'http://ours', K_CE_OVERRIDES: '{"extensions":{"team":"db"}}' };
    assert.deepEqual(readResyncConfig(env).extensions, { team: 'db' });
    assert.deepEqual(readResyncConfig({ ...env, K_CE_OVERRIDES: '{}' }).extensions, {});
    assert.throws(() => readResyncConfig({ ...env, K_CE_OVERRIDES: 'team=db' }), /K_CE_OVERRIDES/);
  });
});

test('an argument that does not exist is refused by name', () => {
  assert.deepEqual([...readFlags(['--all'], ['all', 'help'])], ['all']);
  assert.throws(() => readFlags(['--al'], ['all', 'help']), /--al.*--help lists what there is/);
  assert.throws(() => readFlags(['all'], ['all']), InvalidConfig);
});

test('the help names every variable that is read', () => {
  const read = new Set<string>();
  const get = (target: Record<string, string>, name: string) => {
    read.add(name);
    return target[name];
  };
  const env = new Proxy<Record<string, string>>({ K_SINK: 'http://ours' }, { get });
  readConfig(env, undefined);
  readResyncConfig(env);
  // set by Kubernetes and Knative, not by people
  for (const name of ['HOSTNAME', 'K_SERVICE', 'KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT'])
    read.delete(name);
  const help = `${functionHelp()}\n${resyncHelp()}`;
  assert.ok(read.size > 10);
  for (const name of read) assert.match(help, new RegExp(`^  ${name} `, 'm'));
});
