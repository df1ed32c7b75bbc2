/** The `Members` port on the model: what mysql2 is to real servers. */
import { Permanent, Retryable } from '../../errors.ts';
import { dialectFor } from '../../mysql/dialect.ts';
import { formatGtidSet } from '../../mysql/gtid.ts';
import type { Access, Member, MemberReport, Members } from '../../mysql/members.ts';
import type { GroupModel } from './model.ts';
import type { Server } from './server.ts';

export class ModelMembers implements Members {
  readonly #model: GroupModel;

  constructor(model: GroupModel) {
    this.#model = model;
  }

  async report(members: readonly Member[]): Promise<MemberReport[]> {
    return members.map((member) => this.#reportOf(member));
  }

  async bootstrap(member: Member, _access: Access, expected: string): Promise<void> {
    const server = this.#connect(member);
    const executed = formatGtidSet(server.volume.executed);
    if (executed !== expected) {
      throw new Retryable(
        `${member.name} has ${executed || 'nothing'} by now, not ${expected || 'nothing'}: not starting the group`,
      );
    }
    this.#model.bootstrap(server);
  }

  async join(member: Member, _access: Access, seeds: readonly Member[]): Promise<void> {
    this.#model.join(
      this.#connect(member),
      seeds.map((seed) => seed.host),
    );
  }

  async rebuild(member: Member, _access: Access, donor: Member): Promise<void> {
    const server = this.#connect(member);
    const { clone, versions } = dialectFor(server.version);
    if (!clone) {
      throw new Permanent(
        `${member.name}: MySQL ${versions} has no clone: delete its volume claim and its pod instead`,
      );
    }
    this.#model.leave(server);
    this.#model.clone(server, this.#connect(donor));
  }

  async leave(member: Member): Promise<void> {
    this.#model.leave(this.#connect(member));
  }

  async setPrimary(via: Member, _access: Access, target: string): Promise<void> {
    const server = this.#connect(via);
    const { setPrimary, versions } = dialectFor(server.version);
    if (!setPrimary) {
      throw new Permanent(
        `MySQL ${versions} cannot switch its primary by an order: restart the primary instead`,
      );
    }
    if (!this.#model.setPrimary(server, target)) {
      throw new Retryable(`${via.name}: the requested uuid is not an ONLINE member of the group`);
    }
  }

  #reportOf(member: Member): MemberReport {
    const server = this.#model.serverAt(member.address);
    if (!server?.answers) {
      const why = server
        ? server.hangs || server.process === 'paused'
          ? 'does not answer in time'
          : 'does not listen yet'
        : 'is not there';
      return { answered: false, name: member.name, why };
    }
    return {
      answered: true,
      name: member.name,
      uuid: server.volume.uuid,
      version: server.version,
      state: server.state,
      role: server.role,
      viewId: server.view?.id,
      peers: server.peersAt(this.#model.now, this.#model.times.unreachable),
      executed: formatGtidSet(server.volume.executed),
      received: formatGtidSet(server.volume.received),
      superReadOnly: !server.believesWritable,
      cloning: server.cloning,
      trouble: server.trouble,
    };
  }

  #connect(member: Member): Server {
    const server = this.#model.serverAt(member.address);
    if (!server?.answers) throw new Retryable(`${member.name} does not answer`);
    return server;
  }
}
