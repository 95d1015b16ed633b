// An agent's process under a keeper, as a transport: messages go through the keeper's socket, and
// the agent may outlive this window.
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import type { LineProgress } from '../../acp/jsonrpc/handledLines';
import type { Transport, TransportSink } from '../../acp/jsonrpc/transport';
import { type AgentExit, describeExit, StderrLog } from '../../agents/agentProcess';
import { Deferred } from '../../base/deferred';
import { ParleyError } from '../../base/errors';
import { inEnglish, localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import { within } from '../../base/within';
import { type AgentEnd, FRAME, type Frame, frame, jsonFrame, type Lease } from '../../keeper/wire';
import { type KeeperLease, type KeptAgent, MAX_FACTS_BYTES } from '../ports/keptAgent';
import type { AgentTransport } from './agentTransport';
import { CommandsOfKeeper } from './commandsOfKeeper';
import type { KeeperLine, KeeperWelcome } from './keeperSocket';

/** Bytes in flight before a writer waits. */
const MAX_BYTES_IN_FLIGHT = 1024 * 1024;
const CLOSE_MS = 20_000;
const DETACH_MS = 5_000;

export interface KeptProcessOptions {
  readonly id: string;
  readonly isNew: boolean;
  readonly leaseOf: (lease: KeeperLease) => Lease;
  /** Ends the agent without its connection, which a blocked keeper doesn't read. */
  readonly end: () => Promise<void>;
  readonly log: Log;
  readonly onStderr?: ((line: string) => void) | undefined;
}

export class KeptProcess implements AgentTransport, KeptAgent {
  readonly id: string;
  readonly startedAt: number;
  readonly ranBefore: boolean;
  readonly hasEnded: boolean;
  readonly pid: number;
  readonly facts: Uint8Array | undefined;
  readonly commands: CommandsOfKeeper | undefined;
  readonly transport: Transport = {
    listen: (sink) => {
      this.#sink = sink;
      this.#begin();
    },
    write: (message, answers) => this.#write(message, answers),
    // The agent keeps running, and its output stays with the keeper.
    dispose: () => {
      this.#sink = undefined;
    },
  };
  readonly #options: KeptProcessOptions;
  readonly #line: KeeperLine;
  readonly #answered: readonly number[];
  readonly #storedLine: number;
  readonly #stderr: StderrLog;
  readonly #newStderr = new PassThrough();
  readonly #exit = new Deferred<AgentExit>();
  /** How it ended, after its last output was read. Never rejects. */
  readonly exited = this.#exit.promise;
  readonly #lost = new Deferred<void>();
  readonly lost = this.#lost.promise;
  #lines: UnansweredLines | undefined;
  #sink: TransportSink | undefined;
  #progress: LineProgress | undefined;
  #sent: number;
  #inFlight: { readonly number: number; readonly bytes: number; readonly taken: Deferred<void> }[] = [];
  #bytesInFlight = 0;
  #nextFacts: Uint8Array | undefined;
  #inputError: ParleyError | undefined;
  #closing: Promise<AgentExit> | undefined;
  #isOver = false;

  constructor(options: KeptProcessOptions, line: KeeperLine, { state, facts }: KeeperWelcome) {
    this.#options = options;
    this.#line = line;
    this.id = options.id;
    this.ranBefore = !options.isNew;
    this.hasEnded = state.ended !== undefined;
    this.startedAt = state.startedAt;
    this.pid = state.agentPid;
    this.facts = facts;
    this.#answered = state.answered;
    this.#storedLine = state.storedLine;
    this.#sent = state.sent;
    this.commands = state.commands && new CommandsOfKeeper((bytes) => line.send(bytes), state.commands);
    this.#stderr = new StderrLog(this.#newStderr, options.log, options.onStderr);
    if (options.isNew) this.#progress = { line: 0, open: [] };
    line.listen((frame) => this.#take(frame));
    void line.closed.then(() => this.#onClosed());
  }

  get kept(): KeptAgent {
    return this;
  }

  stderrTail(lines = 20): string {
    return stripVTControlCharacters(this.#stderr.tail.lines(lines));
  }

  deliver(progress: LineProgress): void {
    this.#progress ??= progress;
    this.#begin();
  }

  setFacts(bytes: Uint8Array, now = false): void {
    if (bytes.length > MAX_FACTS_BYTES) throw new RangeError(`facts of ${bytes.length} bytes`);
    if (!this.#nextFacts && !now) setImmediate(() => this.#flushFacts());
    this.#nextFacts = bytes;
    if (now) this.#flushFacts();
  }

  stored(progress: LineProgress): void {
    this.#line.send(jsonFrame(FRAME.stored, progress));
  }

  lease(lease: KeeperLease): void {
    this.#line.send(jsonFrame(FRAME.lease, this.#options.leaseOf(lease)));
  }

  async detach(): Promise<void> {
    this.#flushFacts();
    this.#isOver = true;
    this.#sink = undefined;
    if (!(await within(DETACH_MS, this.#line.end()))) this.#line.destroy();
  }

  /**
   * Ends the agent and its children. Resolves when they and the keeper have ended; for a lost or
   * detached agent, when the connection has.
   */
  close(): Promise<AgentExit> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  dispose(): void {
    void this.close();
  }

  /** @throws ParleyError `connection-closed` if the agent has closed its stdin */
  async #write(message: string, answers: number | undefined): Promise<void> {
    if (this.#isOver || this.#inputError) throw this.#inputError ?? inputError('');
    const bytes = Buffer.from(`${message}\n`);
    const number = ++this.#sent;
    const facts = this.#nextFacts;
    this.#nextFacts = undefined;
    const send = frame(FRAME.send, number, bytes);
    const together = [
      ...(facts ? [frame(FRAME.facts, 0, facts)] : []),
      ...(answers === undefined ? [] : [frame(FRAME.answer, answers)]),
      send,
    ];
    this.#line.send(together.length === 1 ? send : frame(FRAME.batch, 0, Buffer.concat(together)));
    const taken = new Deferred<void>();
    taken.promise.catch(() => {});
    this.#inFlight.push({ number, bytes: bytes.length, taken });
    this.#bytesInFlight += bytes.length;
    if (this.#bytesInFlight > MAX_BYTES_IN_FLIGHT) await taken.promise;
  }

  #begin(): void {
    if (!this.#sink || !this.#progress || this.#lines) return;
    const line = Math.max(this.#progress.line, this.#storedLine);
    const open = this.#progress.open.filter((request) => !this.#answered.includes(request));
    this.#lines = new UnansweredLines(this.#answered, line + 1);
    this.#line.send(jsonFrame(FRAME.deliver, { line, open }));
  }

  #flushFacts(): void {
    if (this.#nextFacts) this.#line.send(frame(FRAME.facts, 0, this.#nextFacts));
    this.#nextFacts = undefined;
  }

  #take({ kind, number, bytes }: Frame): void {
    switch (kind) {
      case FRAME.output:
        if (this.#sink) this.#lines?.push(bytes, this.#sink);
        break;
      case FRAME.kept:
        this.#sink?.data(bytes, number);
        break;
      case FRAME.stderr:
        if (number === 1) this.#stderr.tail.append(bytes.toString('utf8'));
        else this.#newStderr.write(bytes);
        break;
      case FRAME.taken:
        this.#onAccepted(number);
        break;
      case FRAME.inputClosed:
        this.#onInputClosed(inputError(bytes.toString('utf8')));
        break;
      case FRAME.ended: {
        const end = JSON.parse(bytes.toString('utf8')) as AgentEnd;
        // If it was ended for closing its output, its link closes it and gives the reason.
        if (end.closedOutput && this.#sink) this.#sink.closed();
        else this.#end(end);
        break;
      }
      case FRAME.started:
      case FRAME.commandOutput:
        this.commands?.take({ kind, number, bytes });
        break;
      case FRAME.lost:
        this.#isOver = true;
        this.#sink = undefined;
        this.#lost.resolve();
        break;
    }
  }

  #onAccepted(number: number): void {
    while (this.#inFlight[0] && this.#inFlight[0].number <= number) {
      const first = this.#inFlight.shift();
      this.#bytesInFlight -= first?.bytes ?? 0;
      first?.taken.resolve();
    }
  }

  #onInputClosed(error: ParleyError): void {
    this.#inputError ??= error;
    for (const { taken } of this.#inFlight.splice(0)) taken.reject(this.#inputError);
    this.#bytesInFlight = 0;
  }

  #end({ code, signal, isStuck, isDismissed }: Omit<AgentEnd, 'at'>): void {
    if (this.#exit.isSettled) return;
    this.#newStderr.end();
    this.#stderr.finish();
    this.#onInputClosed(inputError(''));
    const exit: AgentExit = {
      code,
      signal: signal as NodeJS.Signals | null,
      isStuck,
      isDismissed,
      stderr: this.stderrTail(),
    };
    this.#options.log.info(`The agent (process ${this.pid}) ${inEnglish(describeExit(exit))}`);
    this.#sink?.closed();
    this.#exit.resolve(exit);
  }

  /** Without an exit frame before, the keeper has died, and its agent with it. */
  #onClosed(): void {
    this.commands?.closed();
    if (this.#isOver) this.#onInputClosed(inputError(''));
    else this.#end({ code: null, signal: null });
  }

  async #close(): Promise<AgentExit> {
    if (!this.#isOver) {
      this.#line.send(frame(FRAME.stop));
      const isRead = this.#inFlight.length === 0 && (await within(CLOSE_MS, this.#line.closed));
      if (!isRead) await this.#options.end();
      if (!(await within(DETACH_MS, this.#line.closed))) this.#line.destroy();
    }
    await this.#line.closed;
    this.#end({ code: null, signal: null });
    return this.exited;
  }
}

function inputError(reason: string): ParleyError {
  const detail = reason === '' ? '' : ` (${reason})`;
  return new ParleyError('connection-closed', localizable('The agent no longer accepts messages{0}.', detail));
}

const NEWLINE = 0x0a;

/** Passes on output from a line on, except requests that an earlier window has answered. */
class UnansweredLines {
  readonly #answered: ReadonlySet<number>;
  readonly #lastAnswered: number;
  /** The line that the next byte begins or belongs to. */
  #line: number;
  #parts: Buffer[] = [];
  /** The next chunk starts with its line number. */
  #isNumbered = true;

  constructor(answered: readonly number[], line: number) {
    this.#answered = new Set(answered);
    this.#lastAnswered = Math.max(0, ...answered);
    this.#line = line;
  }

  push(chunk: Buffer, sink: TransportSink): void {
    let rest = chunk;
    // Lines matter only if some are left out.
    while (this.#line <= this.#lastAnswered) {
      const end = rest.indexOf(NEWLINE);
      this.#parts.push(end === -1 ? rest : rest.subarray(0, end + 1));
      if (end === -1) return;
      if (!this.#answered.has(this.#line)) sink.data(Buffer.concat(this.#parts), this.#line);
      this.#parts = [];
      this.#line++;
      rest = rest.subarray(end + 1);
    }
    if (rest.length === 0) return;
    if (this.#isNumbered) sink.data(rest, this.#line);
    else sink.data(rest);
    this.#isNumbered = false;
  }
}
