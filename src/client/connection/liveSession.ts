// The session that prompts go to: before one leaves, a session that was quiet for long is asked
// about, opened again where the agent no longer has it, and its stored state is looked up. A session
// that cannot be opened again is replaced by a new one.
import type { StateHolder } from '../../acp/proposals/sessionState';
import { errorText } from '../../base/errors';
import { detailed, type PauseCode, type WaitReason } from '../../session/queue/waitReason';
import type { OpenedSession } from '../ports/agentLink';
import type { Preparation, PromptSession } from '../prompts/promptSession';
import type { Connector } from './connector';
import type { LivenessProbe } from './livenessProbe';

export interface LiveSessionOptions {
  readonly connector: () => Connector;
  readonly probe: LivenessProbe;
  /** Keeps the session's state for the agent; undefined where it is not kept. */
  readonly agentState: () => StateHolder | undefined;
  /** Sets what the user chose, see Choices.preparation. */
  readonly choices: { preparation(): Preparation | undefined };
  /** Nothing may be sent, although the session is open. */
  readonly isBlocked: () => boolean;
}

export class LiveSession implements PromptSession {
  readonly #options: LiveSessionOptions;

  constructor(options: LiveSessionOptions) {
    this.#options = options;
  }

  get current(): OpenedSession | undefined {
    if (this.#options.isBlocked()) return undefined;
    const { session } = this.#options.connector();
    return session?.link.kept?.agent.hasEnded ? undefined : session;
  }

  precedes(session: OpenedSession): Preparation | undefined {
    const readState = this.#options.agentState()?.preparation();
    const isDoubtful = this.#options.probe.isDoubtful(session);
    const { choices } = this.#options;
    if (!isDoubtful && !readState) return choices.preparation();
    return async (signal) => {
      const wait = isDoubtful ? await this.#check(session, signal) : undefined;
      if (wait !== undefined) return wait;
      await readState?.(signal);
      return choices.preparation()?.(signal);
    };
  }

  reopen(session: OpenedSession, inVain: number): Preparation {
    return async (signal) =>
      (await this.#reopen(session, signal, inVain)) ?? (await this.#options.choices.preparation()?.(signal));
  }

  leaving(): void {
    this.#options.connector().endReplay();
  }

  answered(): void {
    this.#options.probe.heard();
  }

  needSignIn(message: string, data?: unknown): void {
    this.#options.connector().needSignIn(message, data);
  }

  /**
   * Makes sure that the agent has the session.
   * @returns why a message must wait
   * @throws `signal`'s reason
   */
  async #check(session: OpenedSession, signal: AbortSignal): Promise<WaitReason<PauseCode> | undefined> {
    const doubt = await this.#options.probe.doubt(session, signal);
    if (doubt === 'gone') return this.#reopen(session, signal);
    return doubt === 'silent' ? 'agent-silent' : undefined;
  }

  /**
   * Opens the session again, or another one in its place.
   * @returns why that was not possible
   * @throws `signal`'s reason
   */
  async #reopen(session: OpenedSession, signal: AbortSignal, inVain = 0): Promise<WaitReason<PauseCode> | undefined> {
    try {
      await this.#options.connector().reopenSession(session, inVain, signal);
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      return detailed('session-not-opened', errorText(error));
    }
  }
}
