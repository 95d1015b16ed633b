// Ensures that the shown mode and options are in force before a prompt is sent: sets them after a
// session was opened, waits for the agent's answers, and says why a message must wait.
import { RpcError } from '../../acp/jsonrpc/rpcError';
import { required } from '../../acp/protocol/dialect';
import { errorText, messageOf, ParleyError } from '../../base/errors';
import { type Localizable, type LocalizableText, lines, localizable, withoutFullStop } from '../../base/localizable';
import { within } from '../../base/within';
import type { Choice, ConfigOption } from '../../session/events/content';
import type { SessionEvent } from '../../session/events/event';
import { isInForce, isSameSetting, modeOption, targetOf } from '../../session/model/choices';
import type { SessionState } from '../../session/model/state';
import { detailed, type PauseCode, type WaitReason } from '../../session/queue/waitReason';
import type { Connector } from '../connection/connector';
import { labelOf, modeChoice, rememberedOf, shownChoices } from '../connection/shownChoices';
import type { AgentLink, OpenedSession } from '../ports/agentLink';
import type { ConversationServices } from './conversationOptions';
import { StartMode } from './startMode';

const ANSWER_MS = 5000;
const UPDATE_SHARE = 0.1;
const MAX_PASSES = 4;

export interface ChoosingConversation {
  readonly key: string;
  readonly agent: { readonly id: string; readonly name: string };
  readonly model: { readonly state: Readonly<SessionState> };
  readonly queueActions: { release(code: PauseCode): void };
  readonly connector: Pick<Connector, 'session' | 'ready' | 'isStarting'>;
  readonly recorder: { readonly apply: (event: SessionEvent) => void };
  readonly services: Pick<ConversationServices, 'choices' | 'choiceMs' | 'log'>;
}

/** `why` is absent if the agent had not answered an earlier request. */
interface Missing {
  readonly choice: Choice;
  readonly why?: LocalizableText | undefined;
}

interface ChoiceRequest {
  readonly choice: Choice;
  readonly link: AgentLink;
  readonly done: Promise<void>;
}

class Unanswered extends ParleyError {}

export class Choices {
  readonly startMode: StartMode;
  readonly #conversation: ChoosingConversation;
  readonly #answerMs: number;
  #requests: readonly ChoiceRequest[] = [];
  #choosing: readonly { readonly choice: Choice; readonly done: Promise<void> }[] = [];
  #settling: { readonly link: AgentLink; readonly done: Promise<readonly Missing[]> } | undefined;
  #missing: readonly Missing[] = [];
  #reported: { mode?: string; config?: true } = {};
  #onConfig: (() => void) | undefined;

  constructor(conversation: ChoosingConversation, onAnswer: () => void) {
    this.#conversation = conversation;
    this.#answerMs = conversation.services.choiceMs ?? ANSWER_MS;
    this.startMode = new StartMode(conversation, onAnswer);
  }

  happened(event: SessionEvent): void {
    this.startMode.happened(event);
    if (event.type === 'mode' || event.type === 'modes') this.#reported.mode = event.current;
    if (event.type !== 'config') return;
    this.#reported.config = true;
    this.#onConfig?.();
  }

  opened(isNew: boolean): void {
    const state = this.#state;
    const { wanted } = state;
    this.#missing = [];
    const remembered = isNew ? this.#conversation.services.choices?.of(this.#conversation.agent.id) : undefined;
    // A choice that the agent doesn't report may differ from what is shown.
    const unreported = shownChoices(state).filter((choice) => !isInForce(state, choice));
    if (isNew) this.startMode.began();
    const mode = isNew ? this.startMode.choice : undefined;
    const candidates = [...unreported, ...(mode ? [mode] : []), ...(remembered ? rememberedOf(remembered, state) : [])];
    const added = candidates.filter((choice) => !wanted.some((other) => isSameSetting(other, choice)));
    if (added.length > 0) this.#apply([...wanted, ...added]);
    void this.#settle();
  }

  /**
   * Returns a function that sets the choices before a prompt; undefined if they are in force. It
   * returns why the prompt must wait, and rejects when the signal is aborted.
   */
  preparation(): ((signal: AbortSignal) => Promise<WaitReason<PauseCode> | undefined>) | undefined {
    if (this.#choosing.length === 0 && this.#open().length === 0) return undefined;
    return async (signal) => {
      const stopped = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
      const missing = await Promise.race([stopped, this.#settleAll()]);
      this.#missing = missing;
      return missing.length === 0
        ? undefined
        : detailed('choices-not-set', lines(missing.flatMap(({ why }) => why ?? [])));
    };
  }

  /** Accepts the agent's values: the user sends a held message with them. */
  accept(): void {
    const { agent } = this.#conversation;
    const { choices } = this.#conversation.services;
    const missing = this.#missing.map(({ choice }) => choice);
    this.#missing = [];
    if (missing.length === 0) return;
    const { wanted, config } = this.#state;
    this.#apply(wanted.filter((choice) => !missing.some((other) => isSameSetting(other, choice))));
    for (const { id, value } of missing) {
      const option = config.find((candidate) => candidate.id === id);
      if (!option || choices?.of(agent.id)?.[option.id] !== value) continue;
      choices.remember(agent.id, option.id, option.value);
    }
  }

  /** @throws ParleyError `no-session`, `no-answer`, `not-set`; what the agent answers */
  async setMode(modeId: string): Promise<void> {
    const mode = this.#state.modes.find(({ id }) => id === modeId);
    await this.#choose(modeChoice({ id: modeId, name: mode?.name ?? modeId }));
  }

  /**
   * Sets the initial mode of this and later sessions.
   * @param value empty: the agent's own
   * @throws as {@link setMode}
   */
  async setStartMode(value: string): Promise<void> {
    const option = modeOption(this.#state.config);
    if (value !== '') await (option ? this.setConfigOption(option.id, value) : this.setMode(value));
    this.startMode.answer(value);
  }

  async setConfigOption(id: string, value: string | boolean): Promise<void> {
    const { config } = this.#state;
    const option = config.find((candidate) => candidate.id === id);
    const label = option ? labelOf(option, value) : `${id}: ${value}`;
    const isMode = option !== undefined && option === modeOption(config);
    await this.#choose({ id, value, label, isRequired: true, isMode: isMode || undefined });
    this.#conversation.services.choices?.remember(this.#conversation.agent.id, id, value);
  }

  async #choose(choice: Choice): Promise<void> {
    const { connector } = this.#conversation;
    const state = this.#state;
    const { wanted } = state;
    if (state.isOpening && connector.isStarting && !connector.session) {
      this.#apply([...wanted.filter((other) => !isSameSetting(other, choice)), choice]);
      this.#showWanted(choice);
      return;
    }
    connector.ready();
    const earlier = wanted.filter((other) => isSameSetting(other, choice));
    const others = wanted.filter((other) => !isSameSetting(other, choice));
    const inForce = others.filter((other) => isInForce(state, other));
    this.#apply([...others, choice]);
    const choosing = { choice, done: this.#set(choice) };
    this.#choosing = [...this.#choosing, choosing];
    try {
      await choosing.done;
      this.#follow(choice, inForce);
    } catch (error) {
      // After a refusal the shown value is in force; without an answer that is unknown.
      if (!(error instanceof Unanswered) && this.#isWanted(choice))
        this.#apply([...this.#state.wanted.filter((other) => other !== choice), ...earlier]);
      throw error;
    } finally {
      this.#choosing = this.#choosing.filter((other) => other !== choosing);
    }
    this.#releaseWhenSet();
  }

  /**
   * Shows an option of a session that is still being opened as chosen. It is set once the session
   * is open.
   */
  #showWanted({ id, value, isMode }: Choice): void {
    const { apply } = this.#conversation.recorder;
    if (id === undefined) {
      if (isMode) apply({ type: 'mode', current: String(value), isPast: true });
      return;
    }
    const options = this.#state.config.map((option) =>
      option.id === id ? ({ ...option, value } as ConfigOption) : option,
    );
    apply({ type: 'config', options, chosen: id, isPast: true });
  }

  /**
   * Accepts the agent's changes to other options that follow from a choice of the user. Later in a
   * session the agent may change the choice by itself.
   * @param inForce choices that were in force before
   */
  #follow(choice: Choice, inForce: readonly Choice[]): void {
    const state = this.#state;
    const wanted = state.wanted.flatMap((other): Choice[] => {
      if (!inForce.includes(other) || isInForce(state, other)) return [other];
      const option = state.config.find(({ id }) => id === other.id);
      return option ? [{ ...other, value: option.value, label: labelOf(option, option.value) }] : [];
    });
    this.#apply(state.isOpening ? wanted : wanted.filter((other) => other !== choice));
  }

  #open(): readonly Choice[] {
    const state = this.#state;
    return state.wanted.filter((choice) => !isInForce(state, choice));
  }

  async #settleAll(): Promise<readonly Missing[]> {
    const refused: Missing[] = [];
    let missing: readonly Missing[];
    do {
      for (const { choice, done } of this.#choosing)
        await done.catch((error: unknown) => refused.push({ choice, why: this.#why(choice, error) }));
      missing = await this.#settle();
    } while (this.#choosing.length > 0);
    return [...refused.filter(({ choice }) => !missing.some((other) => other.choice === choice)), ...missing];
  }

  /**
   * Sets required choices, once for all callers.
   * @returns choices that are not in force
   */
  #settle(): Promise<readonly Missing[]> {
    const link = this.#link;
    if (!link) return Promise.resolve([]);
    if (this.#settling?.link === link) return this.#settling.done;
    const settling = { link, done: this.#settleNow(link) };
    this.#settling = settling;
    void settling.done.then(() => {
      if (this.#settling === settling) this.#settling = undefined;
      this.#releaseWhenSet();
    });
    return settling.done;
  }

  async #settleNow(link: AgentLink): Promise<readonly Missing[]> {
    const missing = new Map<Choice, LocalizableText>();
    let isSilent = false;
    for (let pass = 0; pass < MAX_PASSES; pass++) {
      const open = this.#open();
      for (const choice of open) {
        if (isInForce(this.#state, choice) || !this.#isWanted(choice)) continue;
        try {
          await this.#set(choice);
        } catch (error) {
          if (this.#link !== link) return [];
          if (error instanceof RpcError && (await this.#setOverItsOwn(choice))) continue;
          if (this.#link !== link) return [];
          this.#conversation.services.log.warn(
            `session ${this.#conversation.key}: ${choice.label} was not set: ${messageOf(error)}`,
          );
          missing.set(choice, this.#why(choice, error));
          isSilent = error instanceof Unanswered;
          if (isSilent) break;
        }
      }
      if (isSilent || this.#open().every((choice) => open.includes(choice))) break;
    }
    this.#dropUnoffered();
    const why = (choice: Choice) => missing.get(choice) ?? (isSilent ? undefined : this.#notSetReason(choice));
    return this.#open().map((choice) => ({ choice, why: why(choice) }));
  }

  /**
   * Sets a refused choice after setting the value that the agent reports: its actual value may
   * differ, and it may refuse to set what it already has.
   * @returns whether the choice is in force
   */
  async #setOverItsOwn(choice: Choice): Promise<boolean> {
    const target = targetOf(this.#state, choice);
    const named = target?.kind === 'option' ? target.option.value : target?.current;
    if (named === undefined || named === choice.value) return false;
    try {
      const session = this.#conversation.connector.ready();
      const both = this.#setOnce({ ...choice, value: named }, session).then(() => this.#setOnce(choice, session));
      return (await within(this.#answerMs, both)) && isInForce(this.#state, choice);
    } catch {
      return false;
    }
  }

  #dropUnoffered(): void {
    const state = this.#state;
    const wanted = state.wanted.filter((choice) => choice.isRequired || targetOf(state, choice));
    if (wanted.length < state.wanted.length) this.#apply(wanted);
  }

  #releaseWhenSet(): void {
    if (this.#missing.length === 0 || this.#open().length > 0) return;
    this.#missing = [];
    this.#conversation.queueActions.release('choices-not-set');
  }

  /**
   * Sends a choice to the agent after earlier requests. A late answer is applied too.
   * @throws Unanswered; ParleyError `not-set`; what the agent answers
   */
  async #set(choice: Choice): Promise<void> {
    const { link } = this.#conversation.connector.ready();
    this.#requests = this.#requests.filter((other) => other.link === link);
    const pending = this.#requests.find(
      (other) => isSameSetting(other.choice, choice) && other.choice.value === choice.value,
    );
    const { done } = pending ?? this.#send(choice, link);
    if (await within(this.#answerMs, done)) return;
    const { name } = this.#conversation.agent;
    throw new Unanswered('no-answer', localizable("{0} didn't answer when asked for “{1}”.", name, choice.label));
  }

  #send(choice: Choice, link: AgentLink): ChoiceRequest {
    const earlier = Promise.allSettled(this.#requests.map(({ done }) => done));
    const done = within(this.#answerMs, earlier).then(() => this.#request(choice, link));
    const request = { choice, link, done };
    this.#requests = [...this.#requests, request];
    const finished = (): void => {
      this.#requests = this.#requests.filter((other) => other !== request);
    };
    done.then(() => {
      finished();
      // A late answer may put a held message's choice in force, or allow setting it now.
      if (this.#missing.length > 0) void this.#settle();
    }, finished);
    return request;
  }

  /** Retries once if the agent reports another value while it answers. */
  async #request(choice: Choice, link: AgentLink): Promise<void> {
    for (let attempt = 1; attempt <= 2; attempt++) {
      if (this.#link !== link || !this.#isWanted(choice)) break;
      if (await this.#setOnce(choice, this.#conversation.connector.ready())) return;
    }
    throw new ParleyError('not-set', this.#notSetReason(choice));
  }

  /** @returns whether the choice is in force */
  async #setOnce(choice: Choice, { link, sessionId }: OpenedSession): Promise<boolean> {
    const { apply } = this.#conversation.recorder;
    const target = targetOf(this.#state, choice);
    if (!target) return false;
    const isOfUser = this.#choosing.some((other) => other.choice === choice);
    const controls = required(link.dialect.controls);
    this.#reported = {};
    if (target.kind === 'mode') {
      await controls.setMode(sessionId, target.value);
      const { mode = target.value } = this.#reported;
      apply({ type: 'mode', current: mode, byUser: isOfUser ? (true as const) : undefined });
      return mode === target.value;
    }
    const { id } = target.option;
    const options = await controls.setConfigOption(sessionId, id, target.value);
    if (!options && !isInForce(this.#state, choice)) await this.#awaitUpdate(choice);
    if (options ?? isOfUser)
      apply({ type: 'config', options: options ?? this.#state.config, chosen: isOfUser ? id : undefined });
    return isInForce(this.#state, choice);
  }

  /** The answer lacks the options, which may follow in an update. */
  async #awaitUpdate(choice: Choice): Promise<void> {
    if (this.#reported.config) return;
    const updated = new Promise<void>((resolve) => {
      this.#onConfig = resolve;
    });
    const isUpdated = await within(this.#answerMs * UPDATE_SHARE, updated);
    this.#onConfig = undefined;
    if (isUpdated) return;
    const { name } = this.#conversation.agent;
    throw new Unanswered('no-answer', localizable("{0} didn't confirm “{1}”.", name, choice.label));
  }

  #why(choice: Choice, error: unknown): LocalizableText {
    if (!(error instanceof RpcError)) return errorText(error);
    const words = withoutFullStop(errorText(error));
    return localizable('{0} refused “{1}”: {2}.', this.#conversation.agent.name, choice.label, words);
  }

  #notSetReason(choice: Choice): Localizable {
    const { name } = this.#conversation.agent;
    return targetOf(this.#state, choice)
      ? localizable("{0} didn't switch to “{1}”.", name, choice.label)
      : localizable('{0} no longer offers “{1}”.', name, choice.label);
  }

  get #state(): Readonly<SessionState> {
    return this.#conversation.model.state;
  }

  #isWanted(choice: Choice): boolean {
    return this.#state.wanted.includes(choice);
  }

  get #link(): AgentLink | undefined {
    return this.#conversation.connector.session?.link;
  }

  #apply(wanted: readonly Choice[]): void {
    this.#conversation.recorder.apply({ type: 'choices', wanted });
  }
}
