// The keepers of this user on this machine: starts them, finds them again by their folders, and
// ends them.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join, parse } from 'node:path';
import type { Readable } from 'node:stream';
import * as z from 'zod/mini';
import { checkFolder } from '../../agents/agentProcess';
import { endLeft } from '../../agents/agentTree';
import { hostEnvironment } from '../../agents/hostEnvironment';
import { spawnError } from '../../agents/spawnError';
import { planStart } from '../../agents/startPlan';
import { isBorn, listWindowsProcesses } from '../../agents/windowsProcesses';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import { within } from '../../base/within';
import { identityOf } from '../../keeper/identity';
import {
  FRAME,
  frame,
  KEEPER_FILE,
  type KeeperStart,
  type KeeperStarted,
  type KeeperState,
  type Lease,
  PURPOSE,
  WIRE_VERSION,
} from '../../keeper/wire';
import type { KeeperLease } from '../ports/keptAgent';
import { KeeperSocket } from './keeperSocket';
import { KeptProcess } from './keptProcess';

/** What a path of a socket may have everywhere, in bytes. */
const MAX_SOCKET_PATH = 100;
/** Output that is retained for one agent, in bytes. */
const MAX_SPOOL_BYTES = 128 * 1024 * 1024;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** How long an agent waits for a window, in milliseconds: one that was idle, and one at work before. */
const AFTER_IDLE_MS = MINUTE_MS;
const AFTER_WORK_MS = 10 * MINUTE_MS;
/** How long a keeper may take to end its agent, in milliseconds: longer than its graces together. */
const END_MS = 20_000;
/** How long a keeper on another machine may be left out of sight, in milliseconds. */
const FORGOTTEN_MS = 30 * DAY_MS;
const IS_WINDOWS = process.platform === 'win32';

/** Whom a keeper works for. Written to its folder, so without secrets. */
export interface KeeperAbout {
  /** The id of the stored session. */
  readonly session: string;
  readonly agentId: string;
  readonly agentName: string;
  /** The workspace folder. */
  readonly folder: string;
}

/** The most that a keeper's file may have, in bytes. */
const MAX_FILE_BYTES = 64 * 1024;

const birthSchema = z.object({ pid: z.int().check(z.positive()), after: z.number(), before: z.number() });

const keeperFile = z.object({
  wire: z.number(),
  // 0 and negative numbers stand for groups of processes.
  pid: z.int().check(z.positive()),
  identity: z.optional(z.string()),
  /** On Windows: when the keeper and its agent were started. */
  birth: z.optional(birthSchema),
  agent: z.optional(birthSchema),
  host: z.string(),
  mark: z.string().check(z.minLength(1)),
  socket: z.string(),
  socketFolder: z.optional(z.string()),
  token: z.string(),
  startedAt: z.number(),
  about: z.object({ session: z.string(), agentId: z.string(), agentName: z.string(), folder: z.string() }),
});

type KeeperFile = z.infer<typeof keeperFile>;

/**
 * A keeper as it was found. `unreachable`: it runs, and does not answer. `newer`: another version of
 * the extension has started it, which this one cannot read. `elsewhere`: it runs on another machine
 * that shares this folder.
 */
export interface FoundKeeper {
  readonly id: string;
  readonly kind: 'alive' | 'unreachable' | 'newer' | 'elsewhere';
  readonly about: KeeperAbout;
  readonly startedAt: number;
  readonly host: string;
  /** Only of one that is alive. */
  readonly state?: KeeperState;
}

/** How long agents are kept: not at all, until their turn is over, or until the user ends them. */
export type KeepPolicy = 'off' | 'finishTurn' | 'keep';

export interface KeepersOptions {
  /** Made for this user only where it does not exist. */
  readonly folder: string;
  /** The keeper's program, a file of JavaScript. */
  readonly program: string;
  readonly policy: () => KeepPolicy;
  readonly log: Log;
}

export interface KeptStart {
  readonly about: KeeperAbout;
  /** Absolute, from `resolveCommand`. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly log: Log;
  readonly onStderr?: ((line: string) => void) | undefined;
  readonly signal?: AbortSignal;
  readonly closeGraceMs?: KeeperStart['closeGraceMs'];
}

export class Keepers {
  readonly #options: KeepersOptions;

  constructor(options: KeepersOptions) {
    this.#options = options;
  }

  get isOn(): boolean {
    return this.#options.policy() !== 'off';
  }

  /** Returns the id of the keeper that runs for a session; without waiting, so by its process. */
  find(session: string): string | undefined {
    return readdirOf(this.#options.folder).find((id) => {
      const file = this.#read(id);
      if (file?.about.session !== session || file.host !== hostname() || file.wire > WIRE_VERSION) return false;
      return isRunning(file.pid);
    });
  }

  #read(id: string): KeeperFile | undefined {
    const path = join(this.#options.folder, id, KEEPER_FILE);
    try {
      const found = lstatSync(path);
      if (!found.isFile() || found.size > MAX_FILE_BYTES) return undefined;
      return keeperFile.parse(JSON.parse(readFileSync(path, 'utf8')));
    } catch {
      return undefined;
    }
  }

  /**
   * Starts an agent under a keeper of its own, and attaches to it. Another one of the session is
   * ended before.
   * @throws ParleyError `agent-spawn-failed`, `keeper-failed`; the reason of `signal`; nothing is left
   * running then
   */
  async start(options: KeptStart): Promise<KeptProcess> {
    const { about, command, args, env, cwd, log, onStderr, signal, closeGraceMs } = options;
    await checkFolder(cwd);
    await this.endOf([about.session]);
    signal?.throwIfAborted();
    log.info(`Starting ${command} with ${args.length} arguments in ${cwd}, kept by a process of its own`);
    const id = randomBytes(6).toString('hex');
    const place = await this.#makePlace(id).catch((error: unknown) => {
      throw keeperFailure(error);
    });
    const { folder, socket, socketFolder } = place;
    const token = randomBytes(32).toString('hex');
    try {
      await this.#spawn({
        folder,
        socket,
        ...(socketFolder !== undefined && { socketFolder }),
        token,
        about,
        command,
        args,
        env,
        cwd,
        lease: this.#leaseOf({ endMarks: [], isAtWork: false }),
        maxBytes: MAX_SPOOL_BYTES,
        unreadMs: DAY_MS,
        ...(closeGraceMs && { closeGraceMs }),
      });
    } catch (error) {
      await removePlace(folder, socket, socketFolder);
      throw error;
    }
    const kept = await KeptProcess.attach({
      id,
      place: { socket, token },
      isNew: true,
      leaseOf: (lease) => this.#leaseOf(lease),
      log,
      onStderr,
    });
    if (signal?.aborted) {
      await kept.close();
      throw signal.reason;
    }
    return kept;
  }

  /**
   * Attaches to the agent of a session that runs; a window that was attached loses it.
   * @returns undefined where none runs that can be attached to
   */
  async attach(
    session: string,
    options: { readonly log: Log; readonly onStderr?: ((line: string) => void) | undefined },
  ): Promise<KeptProcess | undefined> {
    for (const { id, file } of await this.#files()) {
      if (file.about.session !== session || file.host !== hostname() || file.wire > WIRE_VERSION) continue;
      try {
        const leaseOf = (lease: KeeperLease): Lease => this.#leaseOf(lease);
        return await KeptProcess.attach({ ...options, id, place: file, isNew: false, leaseOf });
      } catch (error) {
        this.#options.log.info(`The keeper ${id} cannot be attached to: ${error}`);
      }
    }
    return undefined;
  }

  /** All that run, or those for whom it is meant. What is left of keepers that are gone is ended and removed. */
  async list(isMeant: (about: KeeperAbout) => boolean = () => true): Promise<readonly FoundKeeper[]> {
    const files = (await this.#files()).filter(({ file }) => isMeant(file.about));
    const found = await Promise.all(files.map(({ id, file }) => this.#look(id, file)));
    return found.filter((one) => one !== undefined);
  }

  /** Ends the agents of sessions, if they run. Resolves when they are gone. */
  async endOf(sessions: readonly string[]): Promise<void> {
    const files = await this.#files();
    await Promise.all(files.map(({ id, file }) => sessions.includes(file.about.session) && this.end(id)));
  }

  /** Ends an agent and its keeper, whoever is attached. Resolves when both are gone. */
  async end(id: string): Promise<void> {
    const file = (await this.#files()).find((one) => one.id === id)?.file;
    if (!file || file.host !== hostname()) return;
    try {
      const { socket } = await KeeperSocket.open(file, PURPOSE.look);
      socket.listen(() => {});
      socket.send(frame(FRAME.stop));
      if (!(await within(END_MS, socket.closed))) throw new Error('the keeper does not end');
    } catch {
      if (await isSame(file)) process.kill(file.pid, 'SIGKILL');
      await this.#clear(id, file);
    }
  }

  async #look(id: string, file: KeeperFile): Promise<FoundKeeper | undefined> {
    const { about, startedAt, host, wire } = file;
    const found = { id, about, startedAt, host };
    if (host !== hostname()) {
      if (Date.now() - startedAt > FORGOTTEN_MS) await this.#remove(id, file);
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

  /** The keeper is gone: ends what it has left. */
  async #clear(id: string, file: KeeperFile): Promise<undefined> {
    await endLeft(file.mark, file.agent);
    await this.#remove(id, file);
    return undefined;
  }

  #remove(id: string, { socket, socketFolder }: KeeperFile): Promise<void> {
    return removePlace(join(this.#options.folder, id), socket, socketFolder);
  }

  async #files(): Promise<readonly { readonly id: string; readonly file: KeeperFile }[]> {
    const ids = await readdir(this.#options.folder).catch(() => []);
    return ids.flatMap((id) => {
      const file = this.#read(id);
      return file ? [{ id, file }] : [];
    });
  }

  /** A new folder for this user only, and where the keeper listens. */
  async #makePlace(id: string): Promise<{ folder: string; socket: string; socketFolder: string | undefined }> {
    const { folder: all } = this.#options;
    await mkdir(all, { recursive: true, mode: 0o700 });
    if (!IS_WINDOWS) {
      if ((await stat(all)).uid !== process.getuid?.()) throw new Error(`${all} belongs to another user`);
      await chmod(all, 0o700);
    }
    const folder = join(all, id);
    await mkdir(folder, { mode: 0o700 });
    if (IS_WINDOWS)
      return { folder, socket: `\\\\.\\pipe\\parley-${randomBytes(16).toString('hex')}`, socketFolder: undefined };
    const socket = join(folder, 's');
    if (Buffer.byteLength(socket) <= MAX_SOCKET_PATH) return { folder, socket, socketFolder: undefined };
    const base = Buffer.byteLength(tmpdir()) <= MAX_SOCKET_PATH - 20 ? tmpdir() : '/tmp';
    const socketFolder = await mkdtemp(join(base, 'parley-'));
    return { folder, socket: join(socketFolder, 's'), socketFolder };
  }

  /** @throws ParleyError `agent-spawn-failed` where the agent does not start, `keeper-failed` where the keeper does not */
  async #spawn(start: KeeperStart): Promise<void> {
    // The keeper plans the same; a refusal has its words here.
    await planStart(start.command, start.args, start.env);
    const { NODE_OPTIONS: _, ...env } = hostEnvironment(process.env);
    const keeper = spawn(process.execPath, [KEEPER_FLAG, this.#options.program], {
      // Neither this window's folder nor the extension's: both may be removed. A home may not exist.
      cwd: parse(process.execPath).root,
      detached: true,
      env: { ...env, ELECTRON_RUN_AS_NODE: '1' },
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    });
    try {
      await once(keeper, 'spawn');
      keeper.unref();
      keeper.stdin.on('error', () => {});
      keeper.stdin.end(JSON.stringify(start));
      const started = startedFrom(await textOf(keeper.stdout));
      if (!started.isRunning)
        throw await spawnError(Object.assign(new Error(started.message), { code: started.code }), start.command);
    } catch (error) {
      throw error instanceof ParleyError ? error : keeperFailure(error);
    } finally {
      keeper.stdout.destroy();
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

/** @throws Error where it is not what a keeper says */
function startedFrom(text: string): KeeperStarted {
  if (text === '') throw new Error('it has ended without a word');
  return JSON.parse(text) as KeeperStarted;
}

function keeperFailure(cause: unknown): ParleyError {
  return new ParleyError('keeper-failed', localizable("The process that keeps the agent couldn't start."), { cause });
}

function readdirOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
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

/** What a keeper reads and passes on is garbage at once: it needs no room for young objects. */
const KEEPER_FLAG = '--max-semi-space-size=1';

/** @param socketFolder where the socket is alone in a folder */
async function removePlace(folder: string, socket: string, socketFolder: string | undefined): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  if (socketFolder === undefined || dirname(socket) !== socketFolder) return;
  await unlink(socket).catch(() => {});
  await rmdir(socketFolder).catch(() => {});
}

/** Returns whether the keeper of a file still runs, and no other process has its number. */
async function isSame({ pid, identity, birth }: KeeperFile): Promise<boolean> {
  if (birth !== undefined) return (await listWindowsProcesses()).some((row) => isBorn(row, birth));
  return identity !== undefined && (await identityOf(pid)) === identity;
}

/** Returns whether the keeper of a file may still run. */
async function mayRun(file: KeeperFile): Promise<boolean> {
  const { pid, identity, birth } = file;
  if (birth === undefined) return identity === undefined ? isRunning(pid) : isSame(file);
  if (!isRunning(pid)) return false;
  const rows = await listWindowsProcesses();
  // Windows may refuse to tell.
  return rows.length === 0 || rows.some((row) => isBorn(row, birth));
}

/** The first line of a stream, or what there is until its end. */
async function textOf(stream: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stream) {
    text += chunk;
    if (text.includes('\n')) break;
  }
  return text;
}
