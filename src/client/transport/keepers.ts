// Keepers of this user on this machine: starts agents under them, finds them by their folders, and
// ends them.
import { mkdirSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { checkFolder } from '../../agents/agentProcess';
import { endLeft } from '../../agents/agentTree';
import { planStart, spawnError } from '../../agents/startPlan';
import { isBorn, listWindowsProcesses } from '../../agents/windowsProcesses';
import type { Disposable } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import { within } from '../../base/within';
import { identityOf, removePlace } from '../../keeper/place';
import { watchFolder } from '../../keeper/watchFolder';
import { FRAME, frame, type KeeperState, type Lease, PURPOSE, WIRE_VERSION } from '../../keeper/wire';
import type { KeeperLease } from '../ports/keptAgent';
import type { KeptStart } from './agentTransport';
import { type KeeperAbout, type KeeperFile, readKeeperFile, readRestFile } from './keeperFiles';
import { KeeperHosts, type KeeperHostsOptions } from './keeperHosts';
import { type KeeperLine, type KeeperPlace, KeeperSocket, type KeeperWelcome } from './keeperSocket';
import { KeptProcess } from './keptProcess';
import { RestLine } from './restLine';

const MAX_SPOOL_BYTES = 128 * 1024 * 1024;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const AFTER_IDLE_MS = MINUTE_MS;
const AFTER_WORK_MS = 10 * MINUTE_MS;
const END_MS = 20_000;
const END_COMMAND_MS = 5_000;
const LOOK_MS = 50;
const POLL_MS = 5_000;
/**
 * How long the output of an ended agent, or the folder of another machine's keeper, is retained.
 */
const RETENTION_MS = 30 * DAY_MS;

/**
 * `unreachable`: it runs but doesn't answer. `newer`: written by a newer version that this one
 * can't read. `elsewhere`: on another machine.
 */
export interface FoundKeeper {
  readonly id: string;
  readonly kind: 'alive' | 'unreachable' | 'newer' | 'elsewhere';
  readonly about: KeeperAbout;
  readonly startedAt: number;
  readonly host: string;
  readonly state?: KeeperState;
}

export type KeepPolicy = 'off' | 'finishTurn' | 'keep';

export interface KeepersOptions extends KeeperHostsOptions {
  readonly policy: () => KeepPolicy;
  readonly log: Log;
}

type AttachOptions = Pick<KeptStart, 'log' | 'onStderr'>;

export class Keepers {
  readonly #options: KeepersOptions;
  readonly #hosts: KeeperHosts;

  constructor(options: KeepersOptions) {
    this.#options = options;
    this.#hosts = new KeeperHosts(options);
  }

  get isOn(): boolean {
    return this.#options.policy() !== 'off';
  }

  /** Returns the session's keeper that runs or has left output; checks only its process. */
  find(session: string): string | undefined {
    return this.#ids().find((id) => {
      const rest = readRestFile(this.#folderOf(id));
      if (rest) return rest.about.session === session && rest.wire <= WIRE_VERSION;
      const file = readKeeperFile(this.#folderOf(id));
      return file !== undefined && file.about.session === session && isReadable(file) && isRunning(file.pid);
    });
  }

  /**
   * Starts and attaches to an agent, after ending another one of the session.
   * @throws ParleyError `agent-spawn-failed`, `keeper-failed`; the reason of `signal`; nothing is
   * left running
   */
  async start(options: KeptStart): Promise<KeptProcess> {
    const { about, command, args, env, cwd, log, onStderr, signal, closeGraceMs } = options;
    await checkFolder(cwd);
    await this.endSessions([about.session]);
    signal?.throwIfAborted();
    log.info(`Starting ${command} with ${args.length} arguments in ${cwd}, kept by a process of its own`);
    // The keeper plans the start again; a refusal is better explained here.
    await planStart(command, args, env);
    const start = { about, command, args, env, cwd, umask: process.umask(), maxBytes: MAX_SPOOL_BYTES, closeGraceMs };
    const lease = this.#leaseOf({ endMarks: [], isAtWork: false });
    const started = await this.#hosts.keep({ ...start, lease }).catch((error: unknown) => {
      throw keeperFailure(error);
    });
    if (!started.isRunning)
      throw await spawnError(Object.assign(new Error(started.message), { code: started.code }), command);
    const { id } = started;
    const kept = await this.#attach(id, { log, onStderr }, true).catch(async (error: unknown) => {
      await this.end(id);
      throw keeperFailure(error);
    });
    if (signal?.aborted) {
      await kept.close();
      throw signal.reason;
    }
    return kept;
  }

  /**
   * Attaches to the agent of a session or to the output it has left, and detaches another window.
   * @returns undefined if there is none
   */
  async attach(session: string, options: AttachOptions): Promise<KeptProcess | undefined> {
    for (const id of this.#ids()) {
      if (this.#aboutOf(id)?.session !== session) continue;
      try {
        return await this.#attach(id, options, false);
      } catch (error) {
        this.#options.log.info(`The keeper ${id} cannot be attached to: ${error}`);
      }
    }
    return undefined;
  }

  /** Lists running keepers (filtered); cleans up after dead ones. */
  async list(isMeant: (about: KeeperAbout) => boolean = () => true): Promise<readonly FoundKeeper[]> {
    const found = await Promise.all(this.#ids().map((id) => this.#inspect(id, isMeant)));
    return found.filter((candidate) => candidate !== undefined);
  }

  watch(onChange: () => void): Disposable {
    const { folder, log } = this.#options;
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      log.warn(`keepers: ${messageOf(error)}`);
    }
    return watchFolder(folder, POLL_MS, onChange);
  }

  async endSessions(sessions: readonly string[]): Promise<void> {
    await this.#endAll(this.#ids().filter((id) => sessions.includes(this.#aboutOf(id)?.session ?? '')));
  }

  /** Ends agents of sessions that are no longer stored and that no window has. */
  async collect(isStored: (session: string) => boolean): Promise<void> {
    const found = await this.list(({ session }) => !isStored(session));
    const undeliveredIds = this.#ids().filter((id) => {
      const rest = readRestFile(this.#folderOf(id));
      return rest !== undefined && !isStored(rest.about.session);
    });
    const running = found.filter(({ state }) => state?.isAttached === false);
    await this.#endAll([...undeliveredIds, ...running.map(({ id }) => id)]);
  }

  async end(id: string): Promise<void> {
    const folder = this.#folderOf(id);
    const file = readKeeperFile(folder);
    if (file && file.host !== hostname()) return;
    if (file) {
      try {
        const socket = await this.#sendTo(file, frame(FRAME.stop));
        if (!(await within(END_MS, socket.closed))) throw new Error('the keeper does not end');
      } catch {
        await this.#force(id, file);
      }
    }
    if (readRestFile(folder)) await rm(folder, { recursive: true, force: true });
  }

  /**
   * Ends a command of an agent; resolves after a few seconds at the latest.
   * @param id of the keeper
   * @param command its id in the keeper's state
   */
  async endCommand(id: string, command: string): Promise<void> {
    const file = readKeeperFile(this.#folderOf(id));
    if (file?.host !== hostname()) return;
    const socket = await this.#sendTo(file, frame(FRAME.kill, 0, Buffer.from(command)));
    await socket.end();
    const giveUpAt = Date.now() + END_COMMAND_MS;
    while (Date.now() < giveUpAt) {
      const state = (await this.#inspect(id, () => true))?.state;
      if (!state?.commands?.some((candidate) => candidate.id === command && candidate.isRunning)) return;
      await delay(LOOK_MS);
    }
  }

  async #attach(id: string, { log, onStderr }: AttachOptions, isNew: boolean): Promise<KeptProcess> {
    const { line, welcome } = await this.#connect(id);
    const leaseOf = (lease: KeeperLease): Lease => this.#leaseOf(lease);
    return new KeptProcess({ id, isNew, leaseOf, end: () => this.end(id), log, onStderr }, line, welcome);
  }

  async #connect(id: string): Promise<{ line: KeeperLine; welcome: KeeperWelcome }> {
    const folder = this.#folderOf(id);
    const file = readKeeperFile(folder);
    try {
      if (readRestFile(folder)) throw new Error('its agent has ended');
      if (!file || !isReadable(file)) throw new Error('it is none of this machine and version');
      const { socket, welcome } = await KeeperSocket.open(file, PURPOSE.attach);
      return { line: socket, welcome };
    } catch (error) {
      const rest = readRestFile(folder);
      if (!rest || rest.wire > WIRE_VERSION) throw error;
      return RestLine.open(folder, rest);
    }
  }

  /**
   * Sends bytes over a separate connection, which stays open.
   * @throws Error if the keeper doesn't answer
   */
  async #sendTo(file: KeeperFile, bytes: Buffer): Promise<KeeperSocket> {
    const { socket } = await KeeperSocket.open(file, PURPOSE.look);
    socket.listen(() => {});
    socket.send(bytes);
    return socket;
  }

  async #inspect(id: string, isMeant: (about: KeeperAbout) => boolean): Promise<FoundKeeper | undefined> {
    const folder = this.#folderOf(id);
    const rest = readRestFile(folder);
    if (rest) {
      const endedAt = rest.state.ended?.at ?? rest.startedAt;
      if (Date.now() - endedAt > RETENTION_MS) await rm(folder, { recursive: true, force: true });
      return undefined;
    }
    const file = readKeeperFile(folder);
    if (!file || !isMeant(file.about)) return undefined;
    const { about, startedAt, host, wire } = file;
    const found = { id, about, startedAt, host };
    if (host !== hostname()) {
      if (Date.now() - startedAt > RETENTION_MS) await this.#remove(id, file);
      return { ...found, kind: 'elsewhere' };
    }
    if (wire > WIRE_VERSION) return (await mayRun(file)) ? { ...found, kind: 'newer' } : this.#clear(id, file);
    try {
      const { socket, welcome } = await KeeperSocket.open(file, PURPOSE.look);
      await socket.end();
      return { ...found, kind: 'alive', state: welcome.state };
    } catch {
      return (await mayRun(file)) ? { ...found, kind: 'unreachable' } : this.#clear(id, file);
    }
  }

  async #force(id: string, file: KeeperFile): Promise<void> {
    const { shared, mark, agent, pid } = file;
    // A shared process ends only if it doesn't answer at all.
    if (shared) await endLeft(mark, agent);
    if (!(shared && (await answers(shared))) && (await isSameProcess(file))) process.kill(pid, 'SIGKILL');
    await this.#clear(id, file);
  }

  async #clear(id: string, file: KeeperFile): Promise<undefined> {
    await endLeft(file.mark, file.agent);
    await this.#remove(id, file);
    return undefined;
  }

  #remove(id: string, { socket, socketFolder }: KeeperFile): Promise<void> {
    return removePlace({ folder: this.#folderOf(id), socket, socketFolder });
  }

  async #endAll(ids: readonly string[]): Promise<void> {
    await Promise.all(ids.map((id) => this.end(id)));
  }

  #aboutOf(id: string): KeeperAbout | undefined {
    const folder = this.#folderOf(id);
    return (readRestFile(folder) ?? readKeeperFile(folder))?.about;
  }

  #folderOf(id: string): string {
    return join(this.#options.folder, id);
  }

  #ids(): readonly string[] {
    try {
      return readdirSync(this.#options.folder);
    } catch {
      return [];
    }
  }

  #leaseOf({ endMarks, isAtWork, goodbye }: KeeperLease): Lease {
    const bye = goodbye === undefined ? {} : { goodbye: `${goodbye}\n` };
    const marks = endMarks.map((id) => ({ has: { id }, lacks: ['method'] }));
    switch (this.#options.policy()) {
      case 'off':
        return { endMarks: [], leaveAfterMs: 0, silentMs: 0, ...bye };
      case 'keep':
        return { endMarks: marks, isAtWork, leaveAfterMs: null, silentMs: null, ...bye };
      case 'finishTurn': {
        const leaveAfterMs = marks.length > 0 ? AFTER_WORK_MS : isAtWork ? DAY_MS : AFTER_IDLE_MS;
        return { endMarks: marks, isAtWork, leaveAfterMs, silentMs: DAY_MS, ...bye };
      }
    }
  }
}

function keeperFailure(cause: unknown): ParleyError {
  return new ParleyError('keeper-failed', localizable("The process that keeps the agent couldn't start."), { cause });
}

function isReadable({ host, wire }: KeeperFile): boolean {
  return host === hostname() && wire <= WIRE_VERSION;
}

async function answers(place: KeeperPlace): Promise<boolean> {
  try {
    (await KeeperSocket.open(place, PURPOSE.look)).socket.destroy();
    return true;
  } catch {
    return false;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether the keeper's pid still belongs to the same process. */
async function isSameProcess({ pid, identity, birth }: KeeperFile): Promise<boolean> {
  if (birth !== undefined) return (await listWindowsProcesses()).some((row) => isBorn(row, birth));
  return identity !== undefined && (await identityOf(pid)) === identity;
}

async function mayRun(file: KeeperFile): Promise<boolean> {
  const { pid, identity, birth } = file;
  if (birth === undefined) return identity === undefined ? isRunning(pid) : isSameProcess(file);
  if (!isRunning(pid)) return false;
  const rows = await listWindowsProcesses();
  // Windows may deny access.
  return rows.length === 0 || rows.some((row) => isBorn(row, birth));
}
