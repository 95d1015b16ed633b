// Owns the process of one agent on behalf of windows that come and go. It moves bytes, and knows
// nothing of the protocol but what a line with an id is.
import { access, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { AgentTree } from '../agents/agentTree';
import { ownBirth } from '../agents/windowsProcesses';
import { Deferred } from '../base/deferred';
import { messageOf } from '../base/errors';
import { silentLog } from '../base/log';
import { retryBusy } from '../base/retryBusy';
import { within } from '../base/within';
import { Commands } from './commands';
import { Connection, type KeeperCommands } from './connection';
import { identityOf } from './identity';
import { Spool } from './spool';
import { Watch } from './watch';
import {
  type AgentEnd,
  KEEPER_FILE,
  type KeeperStart,
  type KeeperState,
  type Lease,
  type Progress,
  WIRE_VERSION,
} from './wire';

/** Connections at a time; more are turned away. */
const MAX_CONNECTIONS = 32;
/** The end of stderr that the next window gets, in bytes. */
const STDERR_BYTES = 64 * 1024;

/**
 * After how much output memory is swept, in bytes. What was read is garbage that V8 would let grow to
 * many times the size of all else here.
 */
const SWEEP_BYTES = 8 * 1024 * 1024;
/** How often it looks whether its folder is there, in milliseconds. */
const FOLDER_CHECK_MS = 10_000;
/** How long a closed stdout may wait for the process to end, in milliseconds. */
const EXIT_AFTER_CLOSE_MS = 1500;

export class Keeper implements KeeperCommands {
  readonly spool: Spool;
  readonly commands = new Commands();
  facts: Buffer = Buffer.alloc(0);
  /** Resolves when the agent has ended, all who wanted to know it do, and the folder is gone. */
  readonly gone: Promise<void>;
  readonly #start: KeeperStart;
  readonly #sweep: () => void;
  readonly #tree: AgentTree;
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  readonly #startedAt = Date.now();
  readonly #forgotten = new Deferred<void>();
  #owner: Connection | undefined;
  #watch: Watch | undefined;
  #lease: Lease;
  #sent = 0;
  readonly #answered = new Set<number>();
  #inputError: string | undefined;
  #stderr = Buffer.alloc(0);
  /** Bytes at the end of `#stderr` that no window got. */
  #newStderr = 0;
  #unswept = 0;
  #ended: AgentEnd | undefined;
  /** The agent is being ended: how it ends is no news. */
  #isEnding = false;
  #closedOutput = false;
  /** `keeper.json` was written. */
  #isListed = false;
  #unread: NodeJS.Timeout | undefined;

  /**
   * Starts the agent, and listens. Resolves when windows can attach.
   * @param sweep collects garbage
   * @throws what the system says; nothing is left running then
   */
  static async start(start: KeeperStart, sweep: () => void): Promise<Keeper> {
    const tree = await AgentTree.start({ ...start, log: silentLog });
    const keeper = new Keeper(start, tree, sweep);
    try {
      await keeper.#listen();
    } catch (error) {
      await tree.close();
      throw error;
    }
    return keeper;
  }

  private constructor(start: KeeperStart, tree: AgentTree, sweep: () => void) {
    this.#start = start;
    this.#sweep = sweep;
    this.#tree = tree;
    this.#lease = start.lease;
    this.spool = new Spool({
      folder: start.folder,
      maxBytes: start.maxBytes,
      onRoom: () => this.pace(),
    });
    this.#server = createServer((socket) => {
      if (this.#makeRoom()) this.#connections.add(new Connection(socket, start.token, this));
      else socket.destroy();
    });
    tree.stdout.on('data', (chunk: Buffer) => this.#onOutput(chunk));
    tree.stdout.once('end', () => void this.#onOutputEnd());
    tree.stderr.on('data', (chunk: Buffer) => this.#onStderr(chunk));
    for (const stream of [tree.stdout, tree.stderr]) stream.on('error', () => {});
    tree.stdin.on('error', (error) => {
      this.#inputError ??= messageOf(error);
      this.#owner?.inputClosed(this.#inputError);
    });
    this.#detach();
    this.gone = this.#untilGone();
  }

  get state(): KeeperState {
    return {
      pid: process.pid,
      agentPid: this.#tree.pid,
      startedAt: this.#startedAt,
      sent: this.#sent,
      lines: this.spool.lines,
      storedLine: this.spool.stored.line,
      answered: [...this.#answered],
      bytes: this.spool.bytes,
      isHeld: this.spool.isFull,
      isAttached: this.#owner !== undefined,
      ...(this.#watch && { detachedAt: this.#watch.since }),
      isWorking: this.#watch?.isWorking ?? false,
      waiting: this.#watch?.waiting ?? 0,
      ...(this.#ended && { ended: this.#ended }),
      commands: this.commands.states,
    };
  }

  attach(connection: Connection): void {
    const before = this.#owner;
    this.#owner = connection;
    before?.lose();
    this.#watch?.dispose();
    this.#watch = undefined;
    clearTimeout(this.#unread);
    const known = this.#stderr.length - this.#newStderr;
    if (known > 0) connection.stderr(this.#stderr.subarray(0, known), true);
    if (this.#newStderr > 0) connection.stderr(this.#stderr.subarray(known));
    this.#newStderr = 0;
    if (this.#inputError !== undefined) connection.inputClosed(this.#inputError);
    if (this.#ended) connection.end(this.#ended);
    this.commands.attach(connection);
  }

  send(number: number, message: Buffer): Promise<void> | undefined {
    const { stdin } = this.#tree;
    if (!stdin.writable) {
      this.#owner?.inputClosed(this.#inputError ?? '');
      return undefined;
    }
    // Whatever was written is not written again.
    if (number !== this.#sent + 1) throw new RangeError(`message ${number} after ${this.#sent}`);
    this.#sent = number;
    const isFlowing = stdin.write(message);
    this.#owner?.taken(number);
    if (isFlowing) return undefined;
    return new Promise((resolve) => {
      stdin.once('drain', resolve);
      stdin.once('close', resolve);
    });
  }

  setFacts(bytes: Buffer): void {
    // A copy: the frame may be a part of a larger buffer.
    this.facts = Buffer.from(bytes);
  }

  answered(line: number): void {
    if (line > this.spool.stored.line || this.spool.stored.open.includes(line)) this.#answered.add(line);
  }

  stored(progress: Progress): void {
    this.spool.store(progress);
    const { line, open } = this.spool.stored;
    for (const one of this.#answered) if (one <= line && !open.includes(one)) this.#answered.delete(one);
  }

  setLease(lease: Lease): void {
    this.#lease = lease;
  }

  /** Ends the agent, and then the keeper. */
  stop(): void {
    this.#forgotten.resolve();
    this.#end();
  }

  /** On Windows, other users can open connections, which must not keep those of the user out. */
  #makeRoom(): boolean {
    if (this.#connections.size < MAX_CONNECTIONS) return true;
    const stranger = [...this.#connections].find(({ isProven }) => !isProven);
    if (!stranger) return false;
    this.#connections.delete(stranger);
    stranger.destroy();
    return true;
  }

  closed(connection: Connection): void {
    this.#connections.delete(connection);
    if (this.#owner === connection) this.#detach();
  }

  #detach(): void {
    this.#owner = undefined;
    this.commands.detach();
    this.pace();
    void this.#checkFolder();
    if (this.#ended) {
      this.#awaitReader();
      return;
    }
    this.#watch = new Watch({
      spool: this.spool,
      lease: this.#lease,
      answered: this.#answered,
      onLeave: () => this.#leave(),
    });
  }

  /**
   * Whose folder was removed, with the extension or by hand, is never found again. A window that is
   * attached has found it.
   */
  async #checkFolder(): Promise<void> {
    if (!this.#isListed || this.#owner) return;
    try {
      await access(join(this.#start.folder, KEEPER_FILE));
    } catch (error) {
      // A disk that does not answer for a while, as on a network, says nothing.
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') this.stop();
    }
  }

  /** Ends the agent in an orderly way. What no window has stored yet remains to be read. */
  #leave(): void {
    const { goodbye } = this.#lease;
    if (goodbye !== undefined && this.#tree.stdin.writable) this.#tree.stdin.write(goodbye);
    this.#end();
  }

  #end(): void {
    this.#isEnding = true;
    // An agent that waits for its output to be read would not leave.
    this.pace();
    void this.#tree.close();
  }

  #onOutput(chunk: Buffer): void {
    if (this.#isEnding && this.spool.isFull) return;
    this.spool.append(chunk);
    this.#unswept += chunk.length;
    if (this.#unswept > SWEEP_BYTES) {
      this.#unswept = 0;
      this.#sweep();
    }
    this.#owner?.wake();
    this.#watch?.wake();
    this.pace();
  }

  /** An agent that closes its stdout and stays can say nothing more: it would never be done. */
  async #onOutputEnd(): Promise<void> {
    if ((await within(EXIT_AFTER_CLOSE_MS, this.#tree.exited)) || this.#isEnding) return;
    this.#closedOutput = true;
    void this.#tree.close();
  }

  /** Holds the agent while there is no room for what it says, or its window is behind. */
  pace(): void {
    const { stdout } = this.#tree;
    if (!this.#isEnding && (this.spool.isFull || this.#owner?.isBehind)) stdout.pause();
    else if (stdout.isPaused()) stdout.resume();
  }

  #onStderr(chunk: Buffer): void {
    this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-STDERR_BYTES);
    if (!this.#owner?.stderr(chunk)) this.#newStderr = Math.min(this.#stderr.length, this.#newStderr + chunk.length);
  }

  async #untilGone(): Promise<void> {
    const exit = await this.#tree.exited;
    if (!this.spool.endsLine) this.#onOutput(Buffer.from('\n'));
    this.#ended = { ...exit, ...(this.#closedOutput && { closedOutput: true }), at: Date.now() };
    this.#watch?.dispose();
    const commandsEnded = this.commands.end();
    for (const connection of this.#connections) connection.end(this.#ended);
    if (!this.#owner) this.#awaitReader();
    await this.#forgotten.promise;
    // The children too have gone.
    await this.#tree.close();
    await commandsEnded;
    this.#server.close();
    const { folder, socketFolder } = this.#start;
    await rm(folder, { recursive: true, force: true });
    if (socketFolder !== undefined) await rmdir(socketFolder).catch(() => {});
    // Who waits for this end may start the next one.
    await Promise.all([...this.#connections].map((connection) => connection.close()));
  }

  /** An end that nobody knows of yet stays to be told, as does what was said before it. */
  #awaitReader(): void {
    if (this.#isEnding && this.spool.isEmpty) this.#forgotten.resolve();
    else this.#unread = setTimeout(() => this.#forgotten.resolve(), this.#start.unreadMs);
  }

  async #listen(): Promise<void> {
    const { socket, socketFolder, folder, token, about } = this.#start;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(socket, resolve);
    });
    const file = {
      wire: WIRE_VERSION,
      pid: process.pid,
      identity: await identityOf(process.pid),
      ...(process.platform === 'win32' && { birth: ownBirth(), agent: this.#tree.birth }),
      host: hostname(),
      mark: this.#tree.mark,
      socket,
      socketFolder,
      token,
      startedAt: this.#startedAt,
      about,
    };
    const path = join(folder, KEEPER_FILE);
    await writeFile(`${path}.new`, JSON.stringify(file), { mode: 0o600 });
    await retryBusy(() => rename(`${path}.new`, path));
    this.#isListed = true;
    setInterval(() => void this.#checkFolder(), FOLDER_CHECK_MS).unref();
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
