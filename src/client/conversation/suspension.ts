// The time until a session can be used in which the user's choices are set, before the agent gets a
// message: those that a suspended session had when its idle agent's process was ended, and in a new
// session the model and the effort that the user chose last with its agent.
import { messageOf } from '../../base/errors';
import { withTimeout } from '../../base/within';
import type { AgentControls } from './agentControls';
import {
  type ChoiceTarget,
  choicesOf,
  type RememberedChoices,
  restoreChoices,
  restoreRemembered,
  type SessionChoices,
} from './sessionChoices';

/** How long an agent may take to set mode and options, in milliseconds. */
const CHOICES_MS = 5000;

export interface SuspensionServices {
  readonly log: { warn(message: string): void };
  /** Absent: a new session begins as its agent has it. */
  readonly choices?: RememberedChoices;
}

export interface Suspended extends ChoiceTarget {
  readonly key: string;
  readonly agent: { readonly id: string };
  readonly controls: ChoiceTarget['controls'] & Pick<AgentControls, 'onChoose'>;
}

export class Suspension {
  readonly #conversation: Suspended;
  readonly #services: SuspensionServices;
  readonly #onResumed: () => void;
  #choices: SessionChoices | undefined;
  /** Identifies the setting that is under way. */
  #setting: object | undefined;

  /** @param onResumed the session can be used, with its choices */
  constructor(conversation: Suspended, services: SuspensionServices, onResumed: () => void) {
    this.#conversation = conversation;
    this.#services = services;
    this.#onResumed = onResumed;
    conversation.controls.onChoose = (id, value) => services.choices?.remember(conversation.agent.id, id, value);
  }

  /** From {@link begin}, or from when the agent is here, until the session can be used. */
  get isActive(): boolean {
    return (this.#choices ?? this.#setting) !== undefined;
  }

  /** The agent's process is about to end. */
  begin(): void {
    this.#choices = choicesOf(this.#conversation.model.state);
  }

  /** Another session takes the place of the suspended one. */
  end(): void {
    this.#choices = undefined;
  }

  /** The agent is here. @param isNew with a new session, in which nothing is chosen yet */
  async resume(isNew: boolean): Promise<void> {
    const { key, agent } = this.#conversation;
    const choices = this.#choices;
    const remembered = this.#services.choices?.of(agent.id);
    const set = isNew
      ? remembered && (() => restoreRemembered(remembered, this.#conversation))
      : choices && (() => restoreChoices(choices, this.#conversation));
    const setting = {};
    this.#setting = setting;
    try {
      if (set) await withTimeout(CHOICES_MS, set);
    } catch (error) {
      this.#services.log.warn(`session ${key}: mode and options were not set: ${messageOf(error)}`);
    }
    // The agent has ended meanwhile, and is here again.
    if (this.#setting !== setting) return;
    this.#setting = undefined;
    if (this.#choices !== choices) return;
    this.#choices = undefined;
    this.#onResumed();
  }
}
