// Owns an agent's process and relays its streams to windows that attach and detach. Knows only
// lines and their ids of the protocol.
import { randomBytes } from 'node:crypto';
import { access, rename, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { AgentTree } from '../agents/agentTree';
import { ownBirth } from '../agents/windowsProcesses';
import { Deferred } from '../base/deferred';
import type { Disposable } from '../base/disposable';
import { messageOf } from '../base/errors';
import { silentLog } from '../base/log';
import { retryBusy } from '../base/retryBusy';
import { within } from '../base/within';
import { Commands, type CommandWindow } from './commands';
import { identityOf, makePlace, type Place, removePlace, removeSocket } from './place';
import { ProvenServer } from './provenServer';
import { Spool } from './spool';
import { Watch } from './watch';
import { watchFolder } from './watchFolder';
import {
  type AgentEnd,
  type CommandOutput,
  type CommandStart,
  type CommandStarted,
  FRAME,
  type Frame,
  frame,
  frameHead,
  framesOf,
  type HostFile,
  jsonFrame,
  KEEPER_FILE,
  type KeeperRest,
  type KeeperStart,
  type KeeperState,
  type Lease,
  MAX_FACTS_BYTES,
  type Progress,
  PURPOSE,
  REST_FACTS,
  REST_FILE,
  REST_FRAMES,
  WIRE_VERSION,
} from './wire';

/** Pending bytes of a connection above which stderr is not sent. Its tail is kept anyway. */
const MAX_STDERR_WAITING = 1024 * 1024;

/** Bytes by which a window can be behind before the agent's stdout is paused. */
const MAX_BEHIND = 1024 * 1024;
/** Pending bytes of a connection above which command output is not sent. */
const MAX_OUTPUT_WAITING = 1024 * 1024;

/** Time for a window to read remaining data, and then to close, ms. */
const CLOSE_MS = 1_000;

/** An authenticated connection, which either owns the agent or only queries its state. */
class Connection implements CommandWindow {
  readonly #socket: Socket;
  readonly #keeper: Keeper;
  #offset: number | undefined;
  #isPumping = false;
  #ended: AgentEnd | undefined;
  #isOwner: boolean;
  readonly #endSent = new Deferred<void>();

  constructor(socket: Socket, purpose: number, keeper: Keeper) {
    this.#socket = socket;
    this.#keeper = keeper;
    this.#isOwner = purpose === PURPOSE.attach;
    socket.on('drain', () => {
      if (this.#isOwner) keeper.commands.resume();
    });
    socket.on('close', () => keeper.onClosed(this));
    if (this.#isOwner) this.#write(frame(FRAME.foundFacts, 0, keeper.facts));
    // The state before attaching: whether a window is attached, or since when none is.
    this.#write(jsonFrame(FRAME.state, keeper.state));
    if (this.#isOwner) keeper.attach(this);
  }

  get isBehind(): boolean {
    return this.#isOwner && this.#offset !== undefined && this.#keeper.spool.end - this.#offset > MAX_BEHIND;
  }

  wake(): void {
    // If a file can't be read, the remaining output is useless. The window treats this as a crash.
    this.#pump().catch(() => this.#socket.destroy());
  }

  /** Returns false if the connection is closed or too slow. */
  stderr(bytes: Buffer, isOld = false): boolean {
    const { destroyed, writableEnded, writableLength } = this.#socket;
    if (destroyed || writableEnded || writableLength >= MAX_STDERR_WAITING) return false;
    this.#write(frame(FRAME.stderr, isOld ? 1 : 0, bytes));
    return true;
  }

  get hasRoom(): boolean {
    const { destroyed, writableEnded, writableLength } = this.#socket;
    return !destroyed && !writableEnded && writableLength < MAX_OUTPUT_WAITING;
  }

  started(started: CommandStarted): void {
    this.#write(jsonFrame(FRAME.started, started));
  }

  output(output: CommandOutput): void {
    this.#write(jsonFrame(FRAME.commandOutput, output));
  }

  acknowledge(number: number): void {
    this.#write(frame(FRAME.taken, number));
  }

  inputClosed(reason: string): void {
    this.#write(frame(FRAME.inputClosed, 0, Buffer.from(reason)));
  }

  end(ended: AgentEnd): void {
    this.#ended = ended;
    if (this.#isOwner) this.wake();
    else this.#sendEnd();
  }

  replace(): void {
    this.#isOwner = false;
    this.#socket.end(frame(FRAME.lost));
  }

  async close(): Promise<void> {
    if (this.#socket.destroyed) return;
    const closed = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    // A window that stopped reading must not delay the end.
    if (this.#offset !== undefined) await within(CLOSE_MS, this.#endSent.promise);
    this.#sendEnd();
    this.#socket.end();
    this.#socket.resume();
    if (!(await within(CLOSE_MS, closed))) this.#socket.destroy();
  }

  #sendEnd(): void {
    if (!this.#ended || this.#endSent.isSettled) return;
    this.#endSent.resolve();
    this.#write(jsonFrame(FRAME.ended, this.#ended));
  }

  #write(bytes: Buffer): void {
    if (!this.#socket.destroyed && !this.#socket.writableEnded) this.#socket.write(bytes);
  }

  /** @throws Error if a frame violates the wire format */
  take(received: Frame): void {
    if (received.kind === FRAME.stop) this.#keeper.stop();
    else if (received.kind === FRAME.kill) this.#keeper.commands.kill(received.bytes.toString('utf8'));
    else if (this.#isOwner) this.#takeFromOwner(received);
  }

  #takeFromOwner({ kind, number, bytes }: Frame): void {
    switch (kind) {
      case FRAME.batch:
        for (const received of framesOf(bytes)) this.take(received);
        break;
      case FRAME.send: {
        const waiting = this.#keeper.send(number, bytes);
        if (!waiting) break;
        this.#socket.pause();
        void waiting.then(() => this.#socket.resume());
        break;
      }
      case FRAME.facts:
        if (bytes.length > MAX_FACTS_BYTES) throw new RangeError(`facts of ${bytes.length} bytes`);
        // Copied, since the frame can be a slice of a larger buffer.
        this.#keeper.facts = Buffer.from(bytes);
        break;
      case FRAME.answer:
        this.#keeper.markAnswered(number);
        break;
      case FRAME.stored:
        this.#keeper.markStored(progressOf(bytes));
        break;
      case FRAME.lease:
        this.#keeper.lease = leaseOf(bytes);
        break;
      case FRAME.run:
        void this.#keeper.commands.run(commandOf(bytes));
        break;
      case FRAME.release:
        this.#keeper.commands.release(bytes.toString('utf8'));
        break;
      case FRAME.follow:
        this.#keeper.commands.follow(bytes.toString('utf8'));
        break;
      case FRAME.deliver:
        this.#deliver(progressOf(bytes)).catch(() => this.#socket.destroy());
        break;
    }
  }

  async #deliver({ line, open }: Progress): Promise<void> {
    const { spool } = this.#keeper;
    for (const number of open) {
      const bytes = await spool.line(number);
      if (bytes) this.#write(frame(FRAME.kept, number, bytes));
    }
    this.#offset = await spool.startOf(Math.max(line, spool.stored.line) + 1);
    await this.#pump();
  }

  async #pump(): Promise<void> {
    if (this.#isPumping || this.#offset === undefined) return;
    this.#isPumping = true;
    const { spool } = this.#keeper;
    const socket = this.#socket;
    while (this.#isOwner && !socket.destroyed) {
      let found = spool.read(this.#offset);
      if (found instanceof Promise) found = await found;
      if (!found) break;
      this.#offset = found.next;
      socket.cork();
      socket.write(frameHead(FRAME.output, 0, found.bytes.length));
      const isFlowing = socket.write(found.bytes);
      socket.uncork();
      if (!isFlowing) await drained(socket);
      this.#keeper.pace();
    }
    this.#isPumping = false;
    if (this.#isOwner && this.#offset === spool.end) this.#sendEnd();
  }
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      socket.off('drain', settle);
      socket.off('close', settle);
      resolve();
    };
    socket.on('drain', settle);
    socket.on('close', settle);
    if (socket.destroyed) settle();
  });
}

/** @throws TypeError, SyntaxError if it is malformed */
function progressOf(bytes: Buffer): Progress {
  const { line, open } = JSON.parse(bytes.toString('utf8')) as Partial<Progress>;
  if (!isCount(line) || !Array.isArray(open) || !open.every(isCount)) throw new TypeError('no progress');
  return { line, open };
}

function leaseOf(bytes: Buffer): Lease {
  const lease = JSON.parse(bytes.toString('utf8')) as Partial<Lease>;
  const { endMarks, isAtWork, leaveAfterMs, silentMs, goodbye } = lease;
  const isTime = (ms: unknown): ms is number | null => ms === null || isCount(ms);
  if (!Array.isArray(endMarks) || !isTime(leaveAfterMs) || !isTime(silentMs)) throw new TypeError('no lease');
  return {
    endMarks,
    isAtWork: isAtWork === true,
    leaveAfterMs,
    silentMs,
    goodbye: typeof goodbye === 'string' ? goodbye : undefined,
  };
}

function commandOf(bytes: Buffer): CommandStart {
  const start = JSON.parse(bytes.toString('utf8')) as Partial<CommandStart>;
  const { id, about, file, args, shell, cwd, env, capacityBytes } = start;
  const areTexts = (values: readonly unknown[]): boolean => values.every((value) => typeof value === 'string');
  if (!areTexts([id, file, cwd]) || !Array.isArray(args) || !areTexts(args) || !areTexts(Object.values(env ?? {})))
    throw new TypeError('no command');
  if (!isCount(capacityBytes)) throw new TypeError('no command');
  return { id, about, file, args, shell: shell === true, cwd, env: env ?? {}, capacityBytes } as CommandStart;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Size of the stderr tail that the next window gets, bytes. */
const STDERR_BYTES = 64 * 1024;

/** Interval of checks whether the folder is there, in milliseconds, if it cannot be watched. */
const FOLDER_CHECK_MS = 10_000;
/** How long the process may outlive its closed stdout, ms. */
const EXIT_AFTER_CLOSE_MS = 1500;
/** Delay before writing to a full disk again, ms. */
const RETRY_MS = 5_000;

export interface KeeperHome {
  readonly folder: string;
  readonly host: HostFile;
  /** Called with the number of bytes that were read and became garbage. */
  readonly onBytesRead: (bytes: number) => void;
}

export class Keeper {
  readonly spool: Spool;
  readonly commands: Commands;
  facts: Buffer = Buffer.alloc(0);
  readonly finished: Promise<void>;
  readonly #start: KeeperStart;
  readonly #home: KeeperHome;
  readonly #place: Place;
  readonly #tree: AgentTree;
  readonly #token = randomBytes(32).toString('hex');
  readonly #server: ProvenServer;
  readonly #connections = new Set<Connection>();
  readonly #startedAt = Date.now();
  readonly #mayExit = new Deferred<void>();
  #owner: Connection | undefined;
  #watch: Watch | undefined;
  lease: Lease;
  #messagesSent = 0;
  readonly #answered = new Set<number>();
  #inputError: string | undefined;
  #stderr = Buffer.alloc(0);
  /** Bytes at the end of `#stderr` that were sent to no window. */
  #unsentStderrBytes = 0;
  #ended: AgentEnd | undefined;
  #isEnding = false;
  #closedOutput = false;
  #isDismissed = false;
  #wasAllStored = false;
  #isListed = false;
  #isRestSaved = false;
  #savingRest = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  #watching: Disposable | undefined;

  /** @throws the system error; no process is left running then */
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
    this.lease = start.lease;
    this.commands = new Commands(start.umask);
    this.spool = new Spool({
      folder: place.folder,
      maxBytes: start.maxBytes,
      onRoom: () => this.pace(),
    });
    this.#server = new ProvenServer(this.#token, (socket, purpose) => {
      const connection = new Connection(socket, purpose, this);
      this.#connections.add(connection);
      return (received) => connection.take(received);
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
    this.finished = this.#runToEnd();
  }

  get state(): KeeperState {
    return {
      pid: process.pid,
      agentPid: this.#tree.pid,
      startedAt: this.#startedAt,
      sent: this.#messagesSent,
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
    const previous = this.#owner;
    this.#owner = connection;
    previous?.replace();
    this.#watch?.dispose();
    this.#watch = undefined;
    clearTimeout(this.#retry);
    const sentBytes = this.#stderr.length - this.#unsentStderrBytes;
    if (sentBytes > 0) connection.stderr(this.#stderr.subarray(0, sentBytes), true);
    if (this.#unsentStderrBytes > 0) connection.stderr(this.#stderr.subarray(sentBytes));
    this.#unsentStderrBytes = 0;
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
    // Messages are written once, in order.
    if (number !== this.#messagesSent + 1) throw new RangeError(`message ${number} after ${this.#messagesSent}`);
    this.#messagesSent = number;
    const isFlowing = stdin.write(message);
    this.#owner?.acknowledge(number);
    if (isFlowing) return undefined;
    return new Promise((resolve) => {
      stdin.once('drain', resolve);
      stdin.once('close', resolve);
    });
  }

  markAnswered(line: number): void {
    if (line > this.spool.stored.line || this.spool.stored.open.includes(line)) this.#answered.add(line);
  }

  markStored(progress: Progress): void {
    this.spool.store(progress);
    const { line, open } = this.spool.stored;
    for (const number of this.#answered) if (number <= line && !open.includes(number)) this.#answered.delete(number);
  }

  stop(): void {
    this.#mayExit.resolve();
    this.#end();
  }

  #guarded(run: () => void): void {
    try {
      run();
    } catch {
      this.stop();
    }
  }

  onClosed(connection: Connection): void {
    this.#connections.delete(connection);
    if (this.#owner === connection) this.#detach();
  }

  #detach(): void {
    this.#owner = undefined;
    this.commands.detach();
    this.pace();
    void this.#checkFolder();
    if (this.#ended) {
      this.#saveRest();
      return;
    }
    this.#watch = new Watch({
      spool: this.spool,
      lease: this.lease,
      answered: this.#answered,
      onLeave: () => this.#dismiss(),
    });
  }

  /** Stops if the folder was removed: no window could find the keeper again. */
  async #checkFolder(): Promise<void> {
    if (!this.#isListed || this.#owner) return;
    try {
      await access(join(this.#place.folder, KEEPER_FILE));
    } catch (error) {
      // A disk that temporarily does not respond, such as a network disk, is not a missing folder.
      if (isMissing(error)) this.stop();
    }
  }

  #dismiss(): void {
    this.#isDismissed = true;
    this.#wasAllStored = this.spool.isEmpty;
    const { goodbye } = this.lease;
    if (goodbye !== undefined && this.#tree.stdin.writable) this.#tree.stdin.write(goodbye);
    this.#end();
  }

  #end(): void {
    this.#isEnding = true;
    // An agent that is blocked on stdout would not exit.
    this.pace();
    void this.#tree.close();
  }

  #onOutput(chunk: Buffer): void {
    if (this.#isEnding && this.spool.isFull) return;
    this.spool.append(chunk);
    this.#home.onBytesRead(chunk.length);
    this.#owner?.wake();
    this.#watch?.wake();
    this.pace();
  }

  /** Kills an agent that closed its stdout but does not exit: it can send nothing more. */
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
    if (!this.#owner?.stderr(chunk))
      this.#unsentStderrBytes = Math.min(this.#stderr.length, this.#unsentStderrBytes + chunk.length);
  }

  async #runToEnd(): Promise<void> {
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
    if (!this.#owner) this.#saveRest();
    await this.#mayExit.promise;
    // The child processes have exited too.
    await this.#tree.close();
    await commandsEnded;
    await this.#savingRest;
    clearTimeout(this.#retry);
    this.#watching?.dispose();
    this.#server.close();
    // Windows clean up what can't be removed here.
    await (this.#isRestSaved ? this.#removeListing() : removePlace(this.#place)).catch(() => {});
    // Those who wait for the end may start the next agent.
    await Promise.all([...this.#connections].map((connection) => connection.close()));
  }

  /** Saves output that no window has stored, so that no process has to wait for the next window. */
  #saveRest(): void {
    this.#savingRest = this.#savingRest.then(async () => {
      if (this.#owner || this.#mayExit.isSettled) return;
      try {
        const isWanted = !this.#wasAllStored && !(this.#isEnding && this.spool.isEmpty);
        this.#isRestSaved = isWanted && (await this.#writeRest());
        if (this.#isRestSaved || !isWanted) this.#mayExit.resolve();
      } catch (error) {
        if (isMissing(error)) this.#mayExit.resolve();
        // The disk is full: the data stays in memory until the retry.
        else this.#retry = setTimeout(() => this.#saveRest(), RETRY_MS);
      }
    });
  }

  async #writeRest(): Promise<boolean> {
    await this.commands.end();
    const sentBytes = this.#stderr.length - this.#unsentStderrBytes;
    const frames = [
      frame(FRAME.stderr, 1, this.#stderr.subarray(0, sentBytes)),
      frame(FRAME.stderr, 0, this.#stderr.subarray(sentBytes)),
      ...this.commands.rest.map((output) => jsonFrame(FRAME.commandOutput, output)),
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
    return !this.#owner && !this.#mayExit.isSettled;
  }

  async #removeListing(): Promise<void> {
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
    this.#watching = watchFolder(this.#place.folder, FOLDER_CHECK_MS, () => void this.#checkFolder());
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
