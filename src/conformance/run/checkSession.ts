// A session of an agent under check, and its turns.

import { at } from '../../base/untrusted';
import { within } from '../../base/within';
import type { ProtocolVersion } from '../rules/rule';
import { isOutput, stateIn } from '../wire/turns';
import { sessionOf, updateName, type WireLine, type WireLog } from '../wire/wireLog';
import type { CheckConnection, Reply } from './checkConnection';
import type { CheckLimits } from './checkOptions';

export interface CheckSessionOptions {
  readonly id: string;
  readonly connection: CheckConnection;
  readonly log: WireLog;
  readonly limits: CheckLimits;
  readonly version: ProtocolVersion;
  readonly hasBarrier: boolean;
  readonly hasStatus: boolean;
}

export class CheckSession {
  readonly id: string;
  readonly #options: CheckSessionOptions;
  isStuck = false;

  constructor(options: CheckSessionOptions) {
    this.#options = options;
    this.id = options.id;
  }

  onUpdate(listener: () => void): () => void {
    return this.#options.log.onLine((line) => {
      if (line.dir === 'received' && sessionOf(line) === this.id) listener();
    });
  }

  status(): Promise<Reply> {
    return this.#options.connection.call('session/status', { sessionId: this.id });
  }

  cancel(): Promise<void> {
    return this.#options.connection.notify('session/cancel', { sessionId: this.id });
  }

  async turn(text: string): Promise<void> {
    if (this.isStuck) return;
    const turn = this.#begin(text, this.#options.limits.prompt);
    await this.#end(turn, this.#options.limits.prompt);
  }

  /** Starts a turn and stops it while it runs. */
  async stoppedTurn(text: string, stop: () => Promise<unknown>, held?: string): Promise<void> {
    if (this.isStuck) return;
    const { connection, limits, hasStatus } = this.#options;
    const turn = this.#begin(text, limits.output + limits.cancel + limits.held);
    if (!turn.watch.hasOutput && !turn.watch.isOver)
      await connection.until(() => turn.watch.hasOutput || turn.watch.isOver, limits.output);
    if (!turn.watch.isOver) await connection.until(() => turn.watch.isOver, limits.beforeCancel);
    if (turn.watch.isOver) return this.#end(turn, 0);
    if (hasStatus) await this.status();
    const added = held === undefined ? undefined : this.#prompt(held, limits.held + limits.cancel);
    if (added) await within(limits.held, added.reply);
    await stop();
    await this.#end(turn, limits.cancel);
    await added?.reply;
  }

  #prompt(text: string, ms: number): ReturnType<CheckConnection['send']> {
    return this.#options.connection.send(
      'session/prompt',
      { sessionId: this.id, prompt: [{ type: 'text', text }] },
      ms,
    );
  }

  #begin(text: string, ms: number): Running {
    const { log, version } = this.#options;
    const { id, reply } = this.#prompt(text, ms);
    const watch = new TurnWatch(this.id, version, id);
    return { id, watch, reply, stop: log.onLine((line) => watch.line(line)) };
  }

  async #end({ id, watch, reply, stop }: Running, ms: number): Promise<void> {
    const { connection, limits, log, hasBarrier } = this.#options;
    const { kind } = await reply;
    if (kind === 'none') this.isStuck = true;
    if (kind === 'result' && watch.isUndecided) await connection.until(() => !watch.isUndecided, limits.noise);
    // Without states, an answer that is neither a receipt nor a stop reason ends the turn.
    if (kind === 'result' && !watch.isOver && !watch.isUndecided) {
      const ended = await connection.until(() => watch.isOver, ms);
      if (!ended && !connection.isOver) {
        log.note(`the turn did not end within ${ms / 1000} s`, { kind: 'endless', id, seconds: ms / 1000 });
        this.isStuck = true;
      }
    }
    if (hasBarrier && !watch.hasBarrier) await connection.until(() => watch.hasBarrier, limits.noise);
    await connection.quiet();
    stop();
  }
}

interface Running {
  readonly id: string | number;
  readonly watch: TurnWatch;
  readonly reply: Promise<Reply>;
  readonly stop: () => void;
}

class TurnWatch {
  hasOutput = false;
  hasBarrier = false;
  readonly #sessionId: string;
  readonly #version: 1 | 2;
  readonly #promptId: string;
  #answer: WireLine['message'];
  #isWorking = false;
  #hasStates = false;
  #isIdle = false;

  constructor(sessionId: string, version: 1 | 2, promptId: string | number) {
    this.#sessionId = sessionId;
    this.#version = version;
    this.#promptId = String(promptId);
  }

  line(line: WireLine): void {
    if (line.dir !== 'received' || !line.message) return;
    if (line.message.method === undefined && String(line.message.id) === this.#promptId) this.#answer ??= line.message;
    if (sessionOf(line) !== this.#sessionId) return;
    this.hasOutput ||= isOutput(line);
    this.hasBarrier ||= updateName(line) === 'turn_complete';
    const state = stateIn(line);
    if (!state) return;
    this.#hasStates = true;
    if (state.state === 'idle') this.#isIdle = this.#isWorking || state.stopReason !== undefined;
    else {
      this.#isWorking = true;
      this.#isIdle = false;
    }
  }

  get isUndecided(): boolean {
    return this.#version === 1 && this.#isReceipt && !this.#hasStates;
  }

  get isOver(): boolean {
    if (!this.#answer) return false;
    return this.#isReceipt ? this.#isIdle : true;
  }

  get #isReceipt(): boolean {
    if (!this.#answer || at(this.#answer, 'error') != null) return false;
    return this.#version === 2 || typeof at(this.#answer, 'result', 'stopReason') !== 'string';
  }
}
