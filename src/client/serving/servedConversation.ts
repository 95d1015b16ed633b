// One session of a served agent: a conversation with its own process, driven by runs of the Agent
// Communication Protocol. Only the caller answers the agent's questions, never the user of this
// machine.
import { ParleyError } from '../../base/errors';
import type { StopReason } from '../../session/events/event';
import { Changes } from '../../session/model/changes';
import type { Permission } from '../../session/model/state';
import type { QueuedAttachment } from '../../session/queue/queue';
import type { Conversation } from '../conversation/conversation';
import { type ChangedEntries, NoTurn, turnFailure, UnattendedMessage } from '../conversation/unattendedMessage';
import { compareHistories, isRemoteText, type RunEmitter, type ServedRunContext } from '../ports/agentServers';
import type { Message, MessagePart } from '../ports/messages';
import type { StateExchange } from '../sharing/stateExchange';
import type { TurnResult } from '../turns/turnState';
import { toolOf } from '../view/projectRequests';
import { waitReasonLabel } from '../view/waitReasonLabels';
import { chosenOption, permissionQuestion } from './permissionQuestion';
import { RunOutput } from './runOutput';
import { historyContext, runPrompt } from './runPrompt';

const STOP_MS = 4000;

interface LastRun {
  readonly history: readonly string[];
  readonly input: readonly Message[];
  readonly output: RunOutput;
}

export class ServedConversation {
  readonly #conversation: Conversation;
  readonly #name: string;
  readonly #state: StateExchange;
  #lastRun: LastRun | undefined;
  #isBusy = false;
  #isBroken = false;

  constructor(conversation: Conversation, name: string, state: StateExchange) {
    this.#conversation = conversation;
    this.#state = state;
    this.#name = name;
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** The agent or its session has ended, or doesn't stop: unusable from here on. */
  get isBroken(): boolean {
    const { kind } = this.#conversation.connection;
    return this.#isBroken || (this.#lastRun !== undefined && kind !== 'ready' && kind !== 'starting');
  }

  /**
   * Returns whether a history continues what the agent has seen; otherwise it needs another
   * session.
   */
  fits(history: readonly string[]): boolean {
    if (!this.#lastRun) return true;
    const { relation } = compareHistories(this.#lastRun.history, history);
    return relation === 'same' || relation === 'extendedBy';
  }

  async run(input: readonly Message[], context: ServedRunContext, out: RunEmitter, signal: AbortSignal): Promise<void> {
    this.#isBusy = true;
    try {
      const { earlier, newInput } = splitInput(await context.withTexts(input, signal));
      const { text, attachments } = runPrompt(newInput);
      const past = await this.#newHistory(context, earlier, signal);
      await this.#state.prepare(context.state, signal);
      signal.throwIfAborted();
      const output = new RunOutput(out, this.#conversation.model.state.entries.length);
      const message = new UnattendedMessage(this.#conversation, text, past ? [past, ...attachments] : attachments);
      this.#lastRun = { history: context.session.history, input, output };
      await this.#work(message, output, out, signal).finally(() => this.#state.settled());
    } finally {
      this.#isBusy = false;
    }
  }

  async close(): Promise<void> {
    this.#isBroken = true;
    await this.#conversation.close();
  }

  async #work(message: UnattendedMessage, output: RunOutput, out: RunEmitter, signal: AbortSignal): Promise<void> {
    const { state } = this.#conversation.model;
    const onChange = async (changed: ChangedEntries, ended: AbortSignal): Promise<void> => {
      output.update(state.entries, changed);
      this.#declineForms(output);
      const [permission] = state.permissions.values();
      if (!permission || ended.aborted) return;
      output.pause(state.entries);
      await this.#forwardQuestion(permission, out, ended, signal);
    };
    try {
      this.#requireSuccess(await message.attend(onChange, signal));
    } catch (error) {
      const hasStopped = await message.withdraw(STOP_MS);
      this.#isBroken ||= !hasStopped || (error instanceof NoTurn && error.code === 'session-lost');
      throw this.#forCaller(error);
    } finally {
      output.finish(state.entries);
    }
  }

  #requireSuccess({ turnId, stopReason }: TurnResult): void {
    if (stopReason === 'end_turn' || stopReason === 'unknown') return;
    const why = stopReason === 'error' ? turnFailure(this.#conversation, turnId).texts.message : SENTENCES[stopReason];
    throw new ParleyError(`turn-${stopReason}`, why);
  }

  #forCaller(error: unknown): unknown {
    const { name } = this.#conversation.agent;
    if (error instanceof ParleyError && error.code === 'sign-in-needed')
      return new ParleyError(error.code, `${name} needs a sign-in on the machine that serves it.`);
    if (!(error instanceof NoTurn)) return error;
    const why = waitReasonLabel(error.wait) || error.message;
    return new ParleyError(error.code, error.code === 'prompt-refused' ? why : `${name} cannot go on. ${why}`);
  }

  /** A question that is open when the turn ends belongs to the next run. */
  async #forwardQuestion(
    permission: Permission,
    out: RunEmitter,
    ended: AbortSignal,
    signal: AbortSignal,
  ): Promise<void> {
    const { model } = this.#conversation;
    const { options, id } = permission;
    const withdrawn = new AbortController();
    const withdraw = (): void => withdrawn.abort(new ParleyError('question-withdrawn', 'The agent no longer asks.'));
    ended.addEventListener('abort', withdraw, { once: true });
    const changes = Changes.unrecorded(() => {
      if (!model.state.permissions.has(id)) withdraw();
    });
    const watching = model.observe(changes);
    try {
      const question = permissionQuestion(permission, toolOf(model, permission));
      const answer = await out.ask(question, withdrawn.signal);
      this.#conversation.answerPermission(id, chosenOption(answer, options) ?? null);
    } catch (error) {
      if (!withdrawn.signal.aborted || signal.aborted) throw error;
    } finally {
      watching.dispose();
      ended.removeEventListener('abort', withdraw);
    }
  }

  /** This protocol has no forms, and a page would open on the wrong machine. */
  #declineForms(output: RunOutput): void {
    for (const { id, message } of [...this.#conversation.model.state.elicitations.values()]) {
      if (!this.#conversation.elicitations.refuse(id, 'decline')) continue;
      output.note(`The agent asked for a form or a page, which cannot be answered here and was declined: ${message}`);
    }
  }

  async #newHistory(
    context: ServedRunContext,
    before: readonly Message[],
    signal: AbortSignal,
  ): Promise<QueuedAttachment | undefined> {
    const { history } = context.session;
    const from = this.#lastRun?.history.length ?? 0;
    const brought = before.map((message) => ({ kind: 'message' as const, message }));
    // Only if the server recorded exactly what the last run added.
    if (history.length === from + (this.#lastRun ? this.#lastRun.input.length + this.#lastRun.output.messages : 0)) {
      return historyContext(brought, history.length + 1);
    }
    const past = (await context.history(signal)).slice(from);
    const own = this.#lastRun ? this.#countOwn(past, this.#lastRun.input) : 0;
    return historyContext([...past.slice(own), ...brought], from + own + 1);
  }

  /** Returns how many of the first messages belong to the last run; 0 if it wasn't recorded. */
  #countOwn(past: Awaited<ReturnType<ServedRunContext['history']>>, input: readonly Message[]): number {
    const isInput = input.every(({ parts }, index) => {
      const entry = past[index];
      return entry?.kind === 'message' && hasParts(entry.message, parts);
    });
    if (!isInput) return 0;
    let own = input.length;
    for (; own < past.length; own++) {
      const entry = past[own];
      if (entry?.kind !== 'message' || entry.message.role !== `agent/${this.#name}`) break;
    }
    return own;
  }
}

/** Compares parts; remote texts may have been filled in. */
function hasParts({ parts: recorded }: Message, parts: readonly MessagePart[]): boolean {
  if (recorded.length !== parts.length) return false;
  return parts.every((part, at) => {
    const there = recorded[at];
    if (JSON.stringify(there) === JSON.stringify(part)) return true;
    return isRemoteText(part) && there?.name === part.name && there?.content_type === part.content_type;
  });
}

function splitInput(input: readonly Message[]): {
  readonly earlier: readonly Message[];
  readonly newInput: readonly Message[];
} {
  const answer = input.findLastIndex(({ role }) => role !== 'user');
  const from = answer === input.length - 1 ? 0 : answer + 1;
  return { earlier: input.slice(0, from), newInput: input.slice(from) };
}

const SENTENCES: Readonly<Record<Exclude<StopReason, 'end_turn' | 'unknown' | 'error'>, string>> = {
  cancelled: 'The agent stopped its turn by itself.',
  refusal: 'The agent refuses to go on with this.',
  max_tokens: 'The answer was cut off: the agent reached the limit of its tokens.',
  max_turn_requests: 'The agent reached the limit of requests in one turn.',
};
