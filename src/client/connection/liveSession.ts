// Makes sure that the agent has the session before a prompt is sent: probes it after a long
// silence, reopens a lost one, or replaces it with a new one.
import type { PromptCapabilities } from '../../acp/protocol/dialect';
import { errorText } from '../../base/errors';
import type { ContentBlock } from '../../session/events/content';
import type { SessionState } from '../../session/model/state';
import { detailed, type PauseCode, type WaitReason } from '../../session/queue/waitReason';
import type { OpenedSession } from '../ports/agentLink';
import type { Preparation, PromptSession } from '../prompts/promptSession';
import type { ConnectionServices } from './connectionState';
import type { Connector } from './connector';
import type { ContextHandoff } from './contextHandoff';
import type { LivenessProbe } from './livenessProbe';
import type { AuthRefusal } from './signIn';

interface SendingConversation {
  readonly key: string;
  readonly model: { readonly state: Pick<SessionState, 'entries'> };
  readonly connector: Connector;
  readonly probe: LivenessProbe;
  readonly handoff: ContextHandoff;
  readonly services: Pick<ConnectionServices, 'agentState'>;
  readonly choices: { preparation(): Preparation | undefined };
  readonly events: { duplicateAccepted(): void };
  readonly readOnly: unknown;
}

export class LiveSession implements PromptSession {
  readonly #conversation: SendingConversation;

  constructor(conversation: SendingConversation) {
    this.#conversation = conversation;
  }

  get key(): string {
    return this.#conversation.key;
  }

  get current(): OpenedSession | undefined {
    if (this.#conversation.readOnly) return undefined;
    const { session } = this.#conversation.connector;
    return session?.link.kept?.agent.hasEnded ? undefined : session;
  }

  appendix(capabilities: PromptCapabilities): readonly ContentBlock[] {
    const { handoff, model } = this.#conversation;
    return handoff.take(capabilities, model.state.entries);
  }

  precedes(session: OpenedSession): Preparation | undefined {
    const { key, choices, probe, services } = this.#conversation;
    const readState = services.agentState?.(key)?.preparation();
    const isDoubtful = probe.needsCheck(session);
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
      (await this.#reopen(session, signal, inVain)) ?? (await this.#conversation.choices.preparation()?.(signal));
  }

  leaving(): void {
    this.#conversation.connector.endReplay();
  }

  answered(): void {
    this.#conversation.probe.onUpdate();
  }

  duplicateAccepted(): void {
    this.#conversation.events.duplicateAccepted();
  }

  needSignIn(refusal: AuthRefusal): void {
    this.#conversation.connector.needSignIn(refusal);
  }

  /**
   * @returns why a message must wait
   * @throws `signal`'s reason
   */
  async #check(session: OpenedSession, signal: AbortSignal): Promise<WaitReason<PauseCode> | undefined> {
    const doubt = await this.#conversation.probe.checkBeforePrompt(session, signal);
    if (doubt === 'gone') return this.#reopen(session, signal);
    return doubt === 'silent' ? 'agent-silent' : undefined;
  }

  async #reopen(session: OpenedSession, signal: AbortSignal, inVain = 0): Promise<WaitReason<PauseCode> | undefined> {
    try {
      await this.#conversation.connector.reopenSession(session, inVain, signal);
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      return detailed('session-not-opened', errorText(error));
    }
  }
}
