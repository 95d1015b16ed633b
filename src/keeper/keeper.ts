// Owns the process of one agent on behalf of windows that come and go. It moves bytes, and knows
// nothing of the protocol but what a line with an id is.
import { randomBytes } from 'node:crypto';
import { access, rename, rm, writeFile } from 'node:fs/promises';
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
import { identityOf, makePlace, type Place, removePlace, removeSocket } from './place';
import { ProvenServer } from './provenServer';
import { Spool } from './spool';
import { Watch } from './watch';
import {
  type AgentEnd,
  FRAME,
  frame,
  type HostFile,
  jsonFrame,
  KEEPER_FILE,
  type KeeperRest,
  type KeeperStart,
  type KeeperState,
  type Lease,
  type Progress,
  REST_FACTS,
  REST_FILE,
  REST_FRAMES,
  WIRE_VERSION,
} from './wire';

/** The end of stderr that the next window gets, in bytes. */
const STDERR_BYTES = 64 * 1024;

/** How often it looks whether its folder is there, in milliseconds. */
const FOLDER_CHECK_MS = 10_000;
/** How long a closed stdout may wait for the process to end, in milliseconds. */
const EXIT_AFTER_CLOSE_MS = 1500;
/** When what is left is written once more, after the disk was full, in milliseconds. */
const RETRY_MS = 5_000;

export interface KeeperHome {
  readonly folder: string;
  readonly host: HostFile;
  /** Told of bytes that were read, which become garbage. */
  readonly swept: (bytes: number) => void;
}

export class Keeper implements KeeperCommands {
  readonly spool: Spool;
  readonly commands: Commands;
  facts: Buffer = Buffer.alloc(0);
  readonly gone: Promise<void>;
  readonly #start: KeeperStart;
  readonly #home: KeeperHome;
  readonly #place: Place;
  readonly #tree: AgentTree;
  readonly #token = randomBytes(32).toString('hex');
  readonly #server: ProvenServer;
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
  #ended: AgentEnd | undefined;
  #isEnding = false;
  #closedOutput = false;
  #isDismissed = false;
  #isRead = false;
  #isListed = false;
  #isLeft = false;
  #leaving = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;

  /** @throws what the system says; nothing is left running then */
  static async start(id: string, start: KeeperStart, home: KeeperHome): Promise<Keeper> {
    const place = await makePlace(home.folder, id);
    try {
      const tree = await AgentTree.start({ ...start, log: silentLog });
      const keeper = new Keeper(start, place, tree, home);
      try {
        await keeper.#listen();
      } catch (error) {
        await tree.close();
        throw error;
      }
      return keeper;
    } catch (error) {
      await removePlace(place);
      throw error;
    }
  }

  private constructor(start: KeeperStart, place: Place, tree: AgentTree, home: KeeperHome) {
    this.#start = start;
    this.#home = home;
    this.#place = place;
    this.#tree = tree;
    this.#lease = start.lease;
    this.commands = new Commands(start.umask);
    this.spool = new Spool({
      folder: place.folder,
      maxBytes: start.maxBytes,
      onRoom: () => this.pace(),
    });
    this.#server = new ProvenServer(this.#token, (socket, purpose) => {
      const connection = new Connection(socket, purpose, this);
      this.#connections.add(connection);
      return (one) => connection.take(one);
    });
    tree.stdout.on('data', (chunk: Buffer) => this.#guarded(() => this.#onOutput(chunk)));
    tree.stdout.once('end', () => void this.#onOutputEnd());
    tree.stderr.on('data', (chunk: Buffer) => this.#guarded(() => this.#onStderr(chunk)));
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
      detachedAt: this.#watch ? this.#watch.since : undefined,
      isWorking: this.#watch?.isWorking ?? false,
      waiting: this.#watch?.waiting ?? 0,
      ended: this.#ended,
      commands: this.commands.states,
    };
  }

  attach(connection: Connection): void {
    const before = this.#owner;
    this.#owner = connection;
    before?.lose();
    this.#watch?.dispose();
    this.#watch = undefined;
    clearTimeout(this.#retry);
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

  stop(): void {
    this.#forgotten.resolve();
    this.#end();
  }

  #guarded(run: () => void): void {
    try {
      run();
    } catch {
      this.stop();
    }
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
      this.#leave();
      return;
    }
    this.#watch = new Watch({
      spool: this.spool,
      lease: this.#lease,
      answered: this.#answered,
      onLeave: () => this.#dismiss(),
    });
  }

  /** Whose folder was removed, with the extension or by hand, is never found again. */
  async #checkFolder(): Promise<void> {
    if (!this.#isListed || this.#owner) return;
    try {
      await access(join(this.#place.folder, KEEPER_FILE));
    } catch (error) {
      // A disk that does not answer for a while, as on a network, says nothing.
      if (isMissing(error)) this.stop();
    }
  }

  #dismiss(): void {
    this.#isDismissed = true;
    this.#isRead = this.spool.isEmpty;
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
    this.#home.swept(chunk.length);
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
    this.#ended = {
      ...exit,
      closedOutput: this.#closedOutput || undefined,
      isDismissed: this.#isDismissed || undefined,
      at: Date.now(),
    };
    this.#watch?.dispose();
    const commandsEnded = this.commands.end();
    for (const connection of this.#connections) connection.end(this.#ended);
    if (!this.#owner) this.#leave();
    await this.#forgotten.promise;
    // The children too have gone.
    await this.#tree.close();
    await commandsEnded;
    await this.#leaving;
    clearTimeout(this.#retry);
    clearInterval(this.#looking);
    this.#server.close();
    // What can't be removed is cleared away by a window.
    await (this.#isLeft ? this.#unlist() : removePlace(this.#place)).catch(() => {});
    // Who waits for this end may start the next one.
    await Promise.all([...this.#connections].map((connection) => connection.close()));
  }

  /**
   * Leaves what no window has stored on the disk, so that no process waits for the next window.
   */
  #leave(): void {
    this.#leaving = this.#leaving.then(async () => {
      if (this.#owner || this.#forgotten.isSettled) return;
      try {
        const isWanted = !this.#isRead && !(this.#isEnding && this.spool.isEmpty);
        this.#isLeft = isWanted && (await this.#writeRest());
        if (this.#isLeft || !isWanted) this.#forgotten.resolve();
      } catch (error) {
        if (isMissing(error)) this.#forgotten.resolve();
        // The disk is full: it stays in memory until there is room.
        else this.#retry = setTimeout(() => this.#leave(), RETRY_MS);
      }
    });
  }

  async #writeRest(): Promise<boolean> {
    await this.commands.end();
    const known = this.#stderr.length - this.#newStderr;
    const frames = [
      frame(FRAME.stderr, 1, this.#stderr.subarray(0, known)),
      frame(FRAME.stderr, 0, this.#stderr.subarray(known)),
      ...this.commands.rest.map((one) => jsonFrame(FRAME.commandOutput, one)),
    ];
    const spool = await this.spool.save();
    await this.#write(REST_FACTS, this.facts);
    await this.#write(REST_FRAMES, Buffer.concat(frames));
    const rest: KeeperRest = {
      wire: WIRE_VERSION,
      host: hostname(),
      startedAt: this.#startedAt,
      about: this.#start.about,
      state: this.state,
      spool,
    };
    await this.#write(REST_FILE, JSON.stringify(rest));
    return !this.#owner && !this.#forgotten.isSettled;
  }

  async #unlist(): Promise<void> {
    const { folder, socket, socketFolder } = this.#place;
    await rm(join(folder, KEEPER_FILE), { force: true });
    if (socketFolder !== undefined) await removeSocket(socket, socketFolder);
  }

  async #listen(): Promise<void> {
    const { socket, socketFolder } = this.#place;
    await this.#server.listen(socket);
    const file = {
      wire: WIRE_VERSION,
      pid: process.pid,
      identity: await identityOf(process.pid),
      ...(process.platform === 'win32' && { birth: ownBirth(), agent: this.#tree.birth }),
      host: hostname(),
      mark: this.#tree.mark,
      socket,
      socketFolder,
      token: this.#token,
      startedAt: this.#startedAt,
      about: this.#start.about,
      shared: this.#home.host,
    };
    await this.#write(KEEPER_FILE, JSON.stringify(file));
    this.#isListed = true;
    this.#looking = setInterval(() => void this.#checkFolder(), FOLDER_CHECK_MS);
  }

  async #write(name: string, content: string | Buffer): Promise<void> {
    const path = join(this.#place.folder, name);
    await writeFile(`${path}.new`, content, { mode: 0o600 });
    await retryBusy(() => rename(`${path}.new`, path));
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
