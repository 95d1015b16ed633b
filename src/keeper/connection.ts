// One proven connection to the keeper of an agent: it either owns the agent, or asks for the state.
import type { Socket } from 'node:net';
import { Deferred } from '../base/deferred';
import { within } from '../base/within';
import type { Commands, CommandWindow } from './commands';
import type { Spool } from './spool';
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
  jsonFrame,
  type KeeperState,
  type Lease,
  MAX_FACTS_BYTES,
  type Progress,
  PURPOSE,
} from './wire';

/** What may wait in a connection before stderr is no longer sent, in bytes; its end is kept anyway. */
const MAX_STDERR_WAITING = 1024 * 1024;

/** How far a window may be behind before the agent waits for it, in bytes. */
const MAX_BEHIND = 1024 * 1024;
/** What may wait in a connection before output of commands is no longer sent, in bytes. */
const MAX_OUTPUT_WAITING = 1024 * 1024;

/** How long a window may take to read the rest, and then to close, in milliseconds. */
const CLOSE_MS = 1_000;

export interface KeeperCommands {
  readonly spool: Spool;
  readonly state: KeeperState;
  readonly facts: Buffer;
  readonly commands: Commands;
  attach(connection: Connection): void;
  send(number: number, message: Buffer): Promise<void> | undefined;
  setFacts(bytes: Buffer): void;
  answered(line: number): void;
  stored(progress: Progress): void;
  setLease(lease: Lease): void;
  stop(): void;
  pace(): void;
  closed(connection: Connection): void;
}

export class Connection implements CommandWindow {
  readonly #socket: Socket;
  readonly #keeper: KeeperCommands;
  #offset: number | undefined;
  #isPumping = false;
  #ended: AgentEnd | undefined;
  #isOwner: boolean;
  readonly #endTold = new Deferred<void>();

  constructor(socket: Socket, purpose: number, keeper: KeeperCommands) {
    this.#socket = socket;
    this.#keeper = keeper;
    this.#isOwner = purpose === PURPOSE.attach;
    socket.on('drain', () => {
      if (this.#isOwner) keeper.commands.resume();
    });
    socket.on('close', () => keeper.closed(this));
    if (this.#isOwner) this.#write(frame(FRAME.foundFacts, 0, keeper.facts));
    // The state of before: whether a window is attached, and since when none is.
    this.#write(jsonFrame(FRAME.state, keeper.state));
    if (this.#isOwner) keeper.attach(this);
  }

  get isBehind(): boolean {
    return this.#isOwner && this.#offset !== undefined && this.#keeper.spool.end - this.#offset > MAX_BEHIND;
  }

  wake(): void {
    // Without what a file held, the rest is worth nothing: the window takes it for a crash.
    this.#pump().catch(() => this.#socket.destroy());
  }

  /** @returns false if the window is gone or too slow */
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

  taken(number: number): void {
    this.#write(frame(FRAME.taken, number));
  }

  inputClosed(reason: string): void {
    this.#write(frame(FRAME.inputClosed, 0, Buffer.from(reason)));
  }

  end(ended: AgentEnd): void {
    this.#ended = ended;
    if (this.#isOwner) this.wake();
    else this.#tellEnd();
  }

  lose(): void {
    this.#isOwner = false;
    this.#socket.end(frame(FRAME.lost));
  }

  async close(): Promise<void> {
    if (this.#socket.destroyed) return;
    const closed = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    // A window that reads no more does not hold up the end.
    if (this.#offset !== undefined) await within(CLOSE_MS, this.#endTold.promise);
    this.#tellEnd();
    this.#socket.end();
    this.#socket.resume();
    if (!(await within(CLOSE_MS, closed))) this.#socket.destroy();
  }

  #tellEnd(): void {
    if (!this.#ended || this.#endTold.isSettled) return;
    this.#endTold.resolve();
    this.#write(jsonFrame(FRAME.ended, this.#ended));
  }

  #write(bytes: Buffer): void {
    if (!this.#socket.destroyed && !this.#socket.writableEnded) this.#socket.write(bytes);
  }

  /** @throws Error at a frame that does not keep to the wire */
  take(one: Frame): void {
    if (one.kind === FRAME.stop) this.#keeper.stop();
    else if (one.kind === FRAME.kill) this.#keeper.commands.kill(one.bytes.toString('utf8'));
    else if (this.#isOwner) this.#own(one);
  }

  #own({ kind, number, bytes }: Frame): void {
    switch (kind) {
      case FRAME.batch:
        for (const one of framesOf(bytes)) this.take(one);
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
        this.#keeper.setFacts(bytes);
        break;
      case FRAME.answer:
        this.#keeper.answered(number);
        break;
      case FRAME.stored:
        this.#keeper.stored(progressOf(bytes));
        break;
      case FRAME.lease:
        this.#keeper.setLease(leaseOf(bytes));
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
    if (this.#isOwner && this.#offset === spool.end) this.#tellEnd();
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

/** @throws TypeError, SyntaxError where it has another form */
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
