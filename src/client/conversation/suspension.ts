// The time in which an idle agent's process is ended: what the user has chosen in the session is
// kept, and set again when the agent has the session back, before it gets a message.
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import { withTimeout } from '../../base/within';
import { type ChoiceTarget, choicesOf, restoreChoices, type SessionChoices } from './sessionChoices';

/** How long an agent may take to set mode and options again, in milliseconds. */
const CHOICES_MS = 5000;

export class Suspension {
  readonly #conversation: ChoiceTarget & { readonly key: string };
  readonly #log: Log;
  readonly #onResumed: () => void;
  #choices: SessionChoices | undefined;

  /** @param onResumed the session can be used again, as it was left */
  constructor(conversation: ChoiceTarget & { readonly key: string }, log: Log, onResumed: () => void) {
    this.#conversation = conversation;
    this.#log = log;
    this.#onResumed = onResumed;
  }

  /** From {@link begin} until the session can be used again. */
  get isActive(): boolean {
    return this.#choices !== undefined;
  }

  /** The agent's process is about to end. */
  begin(): void {
    this.#choices = choicesOf(this.#conversation.model.state);
  }

  /** Another session takes the place of the suspended one. */
  end(): void {
    this.#choices = undefined;
  }

  /** The agent is back. @param isNew with another session, in which nothing is chosen yet */
  async resume(isNew: boolean): Promise<void> {
    const choices = this.#choices;
    if (!choices) return;
    try {
      if (!isNew) await withTimeout(CHOICES_MS, () => restoreChoices(choices, this.#conversation));
    } catch (error) {
      const { key } = this.#conversation;
      this.#log.warn(`session ${key}: mode and options were not set again: ${messageOf(error)}`);
    }
    if (this.#choices !== choices) return;
    this.#choices = undefined;
    this.#onResumed();
  }
}
