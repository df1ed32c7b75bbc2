/** A member whose volume is full. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { eventually, kubectl, kubectlWith } from '../cluster/kubectl.ts';
import { realMysql } from '../cluster/samples.ts';
import { type Story, story } from '../cluster/story.ts';
import { assertSameRows, inMember, podsOf, primaryOf } from './members.ts';
import { onNode } from './tools.ts';
import { workloadOn } from './workload.ts';

const PODS = podsOf('m', 3);
const SIZE = '600Mi';

describe('disk', { concurrency: 1 }, () => {
  story(
    'full-disk: one member of three without space stops nobody, and comes back when there is space again',
    async (at) => {
      const small = 'm-2';
      const volume = await smallVolume(at, small);
      try {
        await at.apply(realMysql('m', { storage: { size: SIZE } }));
        await at.until('m', 'Healthy', 240);
        assert.notEqual(await primaryOf(at, 'm'), small);
        const application = await workloadOn(at, 'm');
        await application.start();
        await inMember(at, small, 'cat /dev/zero >/var/lib/mysql/filler 2>/dev/null || :');
        await assert.rejects(inMember(at, small, 'echo more >/var/lib/mysql/more'), /No space left/);
        const before = Number((await application.sql('SELECT COUNT(*) FROM app.rows_')).trim());
        await eventually('the application goes on', 60, async () => {
          const now = Number((await application.sql('SELECT COUNT(*) FROM app.rows_')).trim());
          return now > before + 50;
        });
        await inMember(at, small, 'rm -f /var/lib/mysql/filler /var/lib/mysql/more');
        // mysqld looks for space once a minute
        await at.until('m', 'Healthy', 240);
        const outcome = await application.stop();
        assert.deepEqual(outcome.lost, []);
        await assertSameRows(at, PODS);
      } finally {
        await volume.remove();
      }
    },
    { skip: onNode.missing },
  );
});

/** A volume of its own for one member, in memory and of a fixed size: nothing else on the node feels it fill up. */
async function smallVolume(at: Story, pod: string) {
  const name = `small-${at.namespace}`;
  const path = `/mnt/${name}`;
  const mount = `mkdir -p "$1" && mount -t tmpfs -o size=${SIZE.replace('Mi', 'm')},mode=1777 tmpfs "$1"`;
  await onNode.run('sh', '-c', mount, 'sh', path);
  const spec = {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'by-hand',
    resources: { requests: { storage: SIZE } },
  };
  await kubectlWith(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: {
        accessModes: spec.accessModes,
        storageClassName: spec.storageClassName,
        capacity: { storage: SIZE },
        persistentVolumeReclaimPolicy: 'Retain',
        hostPath: { path },
      },
    }),
    'apply',
    '-f',
    '-',
  );
  await at.apply({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: `data-${pod}` },
    spec: { ...spec, volumeName: name },
  });
  return {
    remove: async () => {
      await at.kubectl('delete', 'mysql', 'm', '--ignore-not-found');
      await at.kubectl('delete', 'pod', pod, '--grace-period=0', '--force', '--ignore-not-found');
      await at.kubectl('delete', 'pvc', `data-${pod}`, '--ignore-not-found');
      await kubectl('delete', 'pv', name, '--ignore-not-found');
      await eventually('its volume is not in use', 60, () => onNode.run('umount', path).then(() => true));
      await onNode.run('rmdir', path);
    },
  };
}
