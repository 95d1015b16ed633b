// The past of a session that is worked on by servers we do not own: our descriptor is the truth, what a server says is taken only where it goes on from ours, and nothing
// that was said gets lost in between (distributed sessions, "Hand-over algorithm").
import { messageOf } from '../base/errors';
import { type Log, silentLog } from '../base/log';
import { checkAfterRun, decideHandOver, type Fork, type ServerAnswer } from './handOver';
import type { Message, SessionDescriptor } from './model';

/** What a look at a server's version turned out to be. `forgotten`: it does not have our earlier messages. */
export type Finding =
  | { readonly kind: 'agrees' | 'unverified' }
  | { readonly kind: 'took-over'; readonly added: number }
  | { readonly kind: 'forgotten'; readonly missing: number }
  | Fork;

/** Keeps messages in a place of the user's own. */
export interface MessageRecorder {
  /** @returns the URL of the message */
  record(message: Message, signal: AbortSignal): Promise<string>;
}

interface Pending {
  readonly message: Message;
  readonly url: string | undefined;
}

export class SessionPast {
  readonly #recorder: MessageRecorder | undefined;
  readonly #log: Log;
  #descriptor: SessionDescriptor;
  /** Messages of the turn that no server is known to have recorded. */
  #pending: Pending[] = [];

  constructor(descriptor: SessionDescriptor, recorder: MessageRecorder | undefined, log: Log = silentLog) {
    this.#descriptor = descriptor;
    this.#recorder = recorder;
    this.#log = log;
  }

  get descriptor(): SessionDescriptor {
    return this.#descriptor;
  }

  /** Notes a message of the running turn. @param now whether it is written at once, as the user's own is before it is sent */
  async note(message: Message, now: boolean, signal: AbortSignal): Promise<void> {
    this.#pending.push({ message, url: now ? await this.#write(message, signal) : undefined });
  }

  /** Takes back a message that was noted but did not reach the agent. */
  withdraw(message: Message): void {
    this.#pending = this.#pending.filter((pending) => pending.message !== message);
  }

  /** Takes back what was said before in the same words and reached no server for sure: it is said again now. */
  withdrawSame({ role, parts }: Message): void {
    const words = JSON.stringify([role, parts]);
    this.#pending = this.#pending.filter(({ message }) => JSON.stringify([message.role, message.parts]) !== words);
  }

  /** Compares a server's version with ours and takes what goes on from ours; see {@link checkAfterRun}. */
  compare(answer: ServerAnswer): Finding {
    const check = checkAfterRun(this.#descriptor, answer);
    if (check.kind === 'fork') return check;
    if (check.kind === 'unverified') return { kind: 'unverified' };
    const added = check.descriptor.history.length - this.#descriptor.history.length;
    // The server's record of the turn replaces the one that we would have made.
    if (added > 0) this.#pending = [];
    this.#descriptor = check.descriptor;
    if (check.kind === 'forgotten') return { kind: 'forgotten', missing: check.missing };
    return added > 0 ? { kind: 'took-over', added } : { kind: 'agrees' };
  }

  /** Before the session leaves a server: takes along what that server has more; see {@link decideHandOver}. @returns the fork where each has something of its own */
  leave(answer: ServerAnswer): Fork | undefined {
    const decision = decideHandOver(this.#descriptor, answer);
    if (decision.kind === 'fork') return decision;
    if (decision.because === 'taken') this.#pending = [];
    this.#descriptor = decision.descriptor;
    return undefined;
  }

  /**
   * Adds what no server recorded to the descriptor, from a place of the user's own.
   * @returns whether there was anything: no server has it then
   */
  async keepPending(signal: AbortSignal): Promise<boolean> {
    const urls: string[] = [];
    for (const { message, url } of this.#pending) {
      const kept = url ?? (await this.#write(message, signal));
      if (kept !== undefined) urls.push(kept);
    }
    this.#pending = [];
    if (urls.length === 0) return false;
    this.#descriptor = { ...this.#descriptor, history: [...this.#descriptor.history, ...urls] };
    return true;
  }

  async #write(message: Message, signal: AbortSignal): Promise<string | undefined> {
    try {
      return await this.#recorder?.record(message, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#log.error(`A message of session ${this.#descriptor.id} is not recorded: ${messageOf(error)}`);
      return undefined;
    }
  }
}
