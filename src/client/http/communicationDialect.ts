// The dialect of HTTP agents (Agent Communication Protocol): a prompt is a run, and what happens in
// a run arrives as events already.

import type { Dialect, PromptAnswer, SessionOffer, SessionSetup, UpdateTargets } from '../../acp/protocol/dialect';
import { ParleyError } from '../../base/errors';
import { localizable, mapForeign } from '../../base/localizable';
import type { ContentBlock } from '../../session/events/content';
import type { SessionEvent } from '../../session/events/event';
import type { AgentEndpoint } from '../ports/agentServers';
import { mintId } from '../ports/messages';
import type { CommunicationChat } from './communicationChat';

export interface CommunicationDialectOptions {
  readonly endpoint: AgentEndpoint;
  readonly chat: CommunicationChat;
  /** Takes secrets out of a text that people see. */
  readonly scrub: (text: string) => string;
  /** Routes an event of a session to its conversation, where it arrives as an update. */
  readonly route: (sessionId: string, event: SessionEvent) => void;
}

export class CommunicationDialect implements Dialect {
  readonly protocol = 'communication';
  readonly #options: CommunicationDialectOptions;
  readonly #end = new AbortController();
  #running: Promise<unknown> | undefined;

  constructor(options: CommunicationDialectOptions) {
    this.#options = options;
  }

  async newSession(_setup: SessionSetup, _signal: AbortSignal): Promise<SessionOffer> {
    const { chat, endpoint } = this.#options;
    const sessionId = chat.begin(endpoint);
    this.#attach(sessionId);
    return { sessionId };
  }

  /** @throws ParleyError `session-not-found`; AgentServerError */
  async resume(sessionId: string, _setup: SessionSetup, _replay: boolean, signal: AbortSignal): Promise<SessionOffer> {
    const { chat, endpoint } = this.#options;
    this.#attach(sessionId);
    await chat.open(sessionId, endpoint, signal);
    return { sessionId };
  }

  /**
   * `POST /runs`, or `POST /runs/{id}` for an answer.
   * @throws as `CommunicationSession.send`
   */
  async prompt(
    _sessionId: string,
    prompt: readonly ContentBlock[],
    onSent: (requestId: string) => void,
  ): Promise<PromptAnswer> {
    onSent(mintId());
    const running = this.#options.chat.send(prompt, this.#end.signal);
    this.#running = running;
    try {
      const { stopReason, isAwaiting } = await running;
      return { ends: true, stopReason, note: isAwaiting ? 'awaits-answer' : undefined };
    } catch (error) {
      throw this.#scrubbed(error);
    } finally {
      this.#running = undefined;
    }
  }

  /** `POST /runs/{id}/cancel`. */
  async cancel(_sessionId: string): Promise<void> {
    await this.#options.chat.cancel();
  }

  isAsking(_sessionId: string): boolean {
    return this.#options.chat.isAsking;
  }

  readUpdates(updates: readonly unknown[], { emit }: UpdateTargets): void {
    for (const update of updates) emit(update as SessionEvent);
  }

  /** Stops a run whose end would not be seen; a question stays, since it may be answered later. */
  async stopRun(): Promise<void> {
    if (!this.#running) return;
    await this.#options.chat.cancel();
    await this.#running;
  }

  async abandon(): Promise<void> {
    this.#end.abort(new ParleyError('connection-closed', localizable('The connection to the agent was closed.')));
    await this.#running?.catch(() => undefined);
  }

  #scrubbed(error: unknown): unknown {
    if (!(error instanceof ParleyError)) return error;
    const { message, ...hint } = error.texts;
    return new ParleyError(error.code, mapForeign(message, this.#options.scrub), { ...hint, cause: error });
  }

  #attach(sessionId: string): void {
    const { chat, route } = this.#options;
    chat.attach((event) => route(sessionId, event));
  }
}
