// Follows one turn while it runs, line by line.
import { at } from '../../base/untrusted';
import { isOutput, stateIn } from '../wire/turns';
import { sessionOf, updateName, type WireLine } from '../wire/wireLog';

export class TurnWatch {
  /** The agent has produced something. */
  hasOutput = false;
  /** `turn_complete` has come. */
  hasBarrier = false;
  readonly #sessionId: string;
  readonly #version: 1 | 2;
  readonly #promptId: string;
  #answer: WireLine['message'];
  #works = false;
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
    if (state.state === 'idle') this.#isIdle = this.#works || state.stopReason !== undefined;
    else {
      this.#works = true;
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
