// One session of a served agent: a conversation with a process of its own, driven by runs of the
// Agent Communication Protocol. The caller answers the agent's questions; the user of this machine
// is never asked in their place.

import { ParleyError } from '../../base/errors';
import { localize } from '../../base/localizable';
import { compareHistories } from '../../distributed/client/handOver';
import { isRemoteText } from '../../distributed/client/remoteParts';
import type { Message, MessagePart } from '../../distributed/model/model';
import type { RunEmitter, ServedRunContext } from '../../distributed/server/servedAgent';
import type { StopReason } from '../../session/events/event';
import { Changes } from '../../session/model/changes';
import type { Permission } from '../../session/model/state';
import type { QueuedAttachment } from '../../session/queue/queue';
import type { Conversation } from '../conversation/conversation';
import type { StateExchange } from '../sharing/stateExchange';
import type { TurnResult } from '../turns/turnState';
import { waitReasonLabel } from '../view/waitReasonLabels';
import { pastContext } from './pastContext';
import { chosenOption, permissionQuestion } from './permissionQuestion';
import { RunOutput } from './runOutput';
import { runPrompt } from './runPrompt';

/**
 * How long an agent may take to stop before its process is ended, in milliseconds; less than the
 * server waits for a cancelled run.
 */
const STOP_MS = 4000;

/** What the agent of this session knows of the session's history. */
interface Known {
  /** As the last run found it. */
  readonly history: readonly string[];
  /** What that run added. */
  readonly input: readonly Message[];
  readonly output: RunOutput;
}

/** A message on its way through the conversation. */
interface Sent {
  readonly id: string;
  /** How its turn ended. */
  result?: TurnResult;
  error?: unknown;
  isOver: boolean;
}

export class ServedConversation {
  readonly #conversation: Conversation;
  readonly #name: string;
  readonly #state: StateExchange;
  readonly #changes = new Changes(() => this.#wake());
  #known: Known | undefined;
  #isBusy = false;
  #isBroken = false;
  #onWake: (() => void) | undefined;
  #awake = false;
  #onPermissions: (() => void) | undefined;

  /**
   * @param conversation not started, and closed by this object
   * @param name of the agent as it is served
   * @param state of the conversation's session
   */
  constructor(conversation: Conversation, name: string, state: StateExchange) {
    this.#conversation = conversation;
    this.#state = state;
    this.#name = name;
    conversation.model.observe(this.#changes);
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Nothing more can be asked of it: its agent is gone, or does not stop. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /**
   * Returns whether a history continues what the agent has seen. One that says something else needs
   * another agent session.
   */
  fits(history: readonly string[]): boolean {
    if (!this.#known) return true;
    const { relation } = compareHistories(this.#known.history, history);
    return relation === 'same' || relation === 'extendedBy';
  }

  /**
   * Works on one run, see {@link ServedAgent.run}. One at a time.
   * @throws ParleyError with a sentence for the caller; the signal's reason where the run is
   * cancelled
   */
  async run(input: readonly Message[], context: ServedRunContext, out: RunEmitter, signal: AbortSignal): Promise<void> {
    this.#isBusy = true;
    try {
      const { before, asked } = splitInput(await context.withTexts(input, signal));
      const { text, attachments } = runPrompt(asked);
      const past = await this.#unknownPast(context, before, signal);
      await this.#state.prepare(context.state, signal);
      signal.throwIfAborted();
      const output = new RunOutput(out, this.#conversation.model.state.entries.length);
      this.#changes.reset();
      // A pause is for a person to end, and there is none.
      this.#conversation.queue.resume();
      const sent = this.#send(text, past ? [past, ...attachments] : attachments);
      this.#known = { history: context.session.history, input, output };
      await this.#work(sent, output, out, signal).finally(() => this.#state.settled());
    } finally {
      this.#isBusy = false;
    }
  }

  /** Ends the agent and everything that it started. */
  async close(): Promise<void> {
    this.#isBroken = true;
    await this.#conversation.close();
  }

  async #work(sent: Sent, output: RunOutput, out: RunEmitter, signal: AbortSignal): Promise<void> {
    const wake = (): void => this.#wake();
    signal.addEventListener('abort', wake, { once: true });
    try {
      await this.#follow(sent, output, out, signal);
    } finally {
      signal.removeEventListener('abort', wake);
      if (!sent.isOver) await this.#stop(sent);
      if (this.#conversation.connection.kind !== 'ready') this.#isBroken = true;
    }
    if (sent.error !== undefined) throw sent.error;
    if (sent.result) this.#judge(sent.result);
  }

  /** Passes on what the agent says and asks until its turn is over. */
  async #follow(sent: Sent, output: RunOutput, out: RunEmitter, signal: AbortSignal): Promise<void> {
    const { model } = this.#conversation;
    for (;;) {
      signal.throwIfAborted();
      const changed = new Map(this.#changes.entries);
      this.#changes.reset();
      output.tell(model.state.entries, changed);
      if (sent.isOver) {
        output.finish(model.state.entries);
        return;
      }
      const failure = this.#failure(sent);
      if (failure) {
        output.finish(model.state.entries);
        throw failure;
      }
      this.#declineForms(output);
      const [permission] = model.state.permissions.values();
      if (permission) {
        output.pause(model.state.entries);
        await this.#ask(permission, out, signal);
      } else await this.#next();
    }
  }

  #send(text: string, attachments: readonly QueuedAttachment[]): Sent {
    const { id, done } = this.#conversation.send(text, attachments);
    const sent: Sent = { id, isOver: false };
    const over = (ended: Pick<Sent, 'result' | 'error'>): void => {
      Object.assign(sent, ended, { isOver: true });
      this.#wake();
    };
    done.then(
      (result) => over({ result }),
      (error: unknown) => over({ error }),
    );
    return sent;
  }

  /** Asks the caller. A question that the agent withdraws is withdrawn there too. */
  async #ask(permission: Permission, out: RunEmitter, signal: AbortSignal): Promise<void> {
    const conversation = this.#conversation;
    const { entries, permissions } = conversation.model.state;
    const { toolCallId, options, id } = permission;
    const tool = entries[toolCallId === undefined ? -1 : (conversation.model.toolIndex(toolCallId) ?? -1)];
    const withdrawn = new AbortController();
    this.#onPermissions = () => {
      if (!permissions.has(id)) withdrawn.abort(new ParleyError('question-withdrawn', 'The agent no longer asks.'));
    };
    try {
      const question = permissionQuestion(permission, tool?.kind === 'tool' ? tool : undefined);
      const answer = await out.ask(question, withdrawn.signal);
      conversation.answerPermission(id, chosenOption(answer, options) ?? null);
    } catch (error) {
      if (!withdrawn.signal.aborted || signal.aborted) throw error;
    } finally {
      this.#onPermissions = undefined;
    }
  }

  /** There is no form in this protocol, and a page would open on the wrong machine. */
  #declineForms(output: RunOutput): void {
    for (const { id, message } of [...this.#conversation.model.state.elicitations.values()]) {
      if (!this.#conversation.elicitations.refuse(id, 'decline')) continue;
      output.note(`The agent asked for a form or a page, which cannot be answered here and was declined: ${message}`);
    }
  }

  /** Why the message will have no turn, or its turn no end. */
  #failure({ id }: Sent): ParleyError | undefined {
    const { connection, queue, agent } = this.#conversation;
    if (connection.kind === 'failed' || connection.kind === 'exited') return connection.error;
    if (connection.kind === 'authRequired') {
      return new ParleyError('sign-in-needed', `${agent.name} needs a sign-in on the machine that serves it.`);
    }
    const item = queue.find(id);
    if (item?.state === 'failed') {
      return new ParleyError(
        'prompt-refused',
        item.reason ? waitReasonLabel(item.reason) : `${agent.name} did not take the message.`,
      );
    }
    // There is no one who could resume it.
    if (item?.state === 'queued' && queue.paused !== undefined && connection.kind === 'ready') {
      return new ParleyError('session-lost', `${agent.name} cannot go on. ${waitReasonLabel(queue.paused)}`);
    }
    return undefined;
  }

  /**
   * Takes the message back or stops its turn; an agent that does not stop in time is of no use any
   * more.
   */
  async #stop(sent: Sent): Promise<void> {
    const deadline = setTimeout(() => {
      this.#isBroken = true;
      this.#wake();
    }, STOP_MS);
    try {
      while (!sent.isOver && !this.#isBroken && !this.#failure(sent)) {
        this.#conversation.queueActions.remove(sent.id);
        const { turn } = this.#conversation.model.state;
        if (turn?.cancelRequested !== true) this.#conversation.cancel();
        await this.#next();
      }
    } finally {
      clearTimeout(deadline);
    }
    // The outcome is not needed again.
    delete sent.error;
    delete sent.result;
  }

  /** @throws ParleyError for a turn that did not end well */
  #judge({ turnId, stopReason }: TurnResult): void {
    if (stopReason === 'end_turn' || stopReason === 'unknown') return;
    throw new ParleyError(
      `turn-${stopReason}`,
      (stopReason === 'error' ? this.#whyFailed(turnId) : undefined) ?? SENTENCES[stopReason],
    );
  }

  #whyFailed(turnId: string): string | undefined {
    const { model } = this.#conversation;
    const entry = model.state.entries.findLast((one) => one.kind === 'error' && one.turnId === turnId);
    const text = entry?.kind === 'error' ? entry.text : model.turn(turnId)?.note;
    return text === undefined ? undefined : localize(text);
  }

  /**
   * What others have added to the session since the agent was last asked, all of it for a new one,
   * and the messages that the input contains before its prompt.
   */
  async #unknownPast(
    context: ServedRunContext,
    before: readonly Message[],
    signal: AbortSignal,
  ): Promise<QueuedAttachment | undefined> {
    const { history } = context.session;
    const from = this.#known?.history.length ?? 0;
    const brought = before.map((message) => ({ kind: 'message' as const, message }));
    // As many as the last run must have added.
    if (history.length === from + (this.#known ? this.#known.input.length + this.#known.output.messages : 0)) {
      return pastContext(brought, history.length + 1);
    }
    const past = (await context.history(signal)).slice(from);
    const own = this.#known ? this.#ownAmong(past, this.#known.input) : 0;
    return pastContext([...past.slice(own), ...brought], from + own + 1);
  }

  /**
   * How many messages at the beginning are those of the last run. A run that could not be recorded
   * has none.
   */
  #ownAmong(past: Awaited<ReturnType<ServedRunContext['history']>>, input: readonly Message[]): number {
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

  #wake(): void {
    this.#awake = true;
    this.#onPermissions?.();
    this.#onWake?.();
  }

  /**
   * Resolves when something has changed since this was called last; at once where something has.
   */
  async #next(): Promise<void> {
    if (!this.#awake) {
      await new Promise<void>((resolve) => {
        this.#onWake = resolve;
      });
      this.#onWake = undefined;
    }
    this.#awake = false;
  }
}

/**
 * Returns whether a recorded message consists of these parts, whose texts that lay elsewhere may be
 * in it by now.
 */
function hasParts({ parts: recorded }: Message, parts: readonly MessagePart[]): boolean {
  if (recorded.length !== parts.length) return false;
  return parts.every((part, at) => {
    const there = recorded[at];
    if (JSON.stringify(there) === JSON.stringify(part)) return true;
    return isRemoteText(part) && there?.name === part.name && there?.content_type === part.content_type;
  });
}

/**
 * An input with answers before its last message contains a history that no server has recorded:
 * everything before the last message.
 */
function splitInput(input: readonly Message[]): {
  readonly before: readonly Message[];
  readonly asked: readonly Message[];
} {
  const answer = input.findLastIndex(({ role }) => role !== 'user');
  const from = answer === input.length - 1 ? 0 : answer + 1;
  return { before: input.slice(0, from), asked: input.slice(from) };
}

const SENTENCES: Readonly<Record<Exclude<StopReason, 'end_turn' | 'unknown'>, string>> = {
  cancelled: 'The agent stopped its turn by itself.',
  refusal: 'The agent refuses to go on with this.',
  max_tokens: 'The answer was cut off: the agent reached the limit of its tokens.',
  max_turn_requests: 'The agent reached the limit of requests in one turn.',
  error: 'The agent failed.',
};
