// One turn, as a scene plays it: what it may say, show and ask. Everything ends at once when the
// user cancels.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deferred } from '../base/deferred';
import { at, type Prompt } from './input';
import type { DemoSession } from './session';
import { toV2Permission, type Update } from './versions';

/** The fields of a tool call that scenes use (v1, section "Tool calls"). */
export interface ToolFields {
  readonly title?: string;
  readonly kind?: 'read' | 'edit' | 'search' | 'execute' | 'think' | 'fetch';
  readonly status?: 'pending' | 'in_progress' | 'completed' | 'failed';
  readonly content?: readonly object[];
  readonly locations?: readonly { readonly path: string; readonly line?: number }[];
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
}

/** What the user decided about a permission. `dismissed` is no answer at all. */
export type Decision = 'once' | 'always' | 'no' | 'dismissed';

const OPTIONS = [
  { optionId: 'once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
] as const;

const QUESTIONS: ReadonlySet<string> = new Set(['session/request_permission', 'elicitation/create']);

export class Turn {
  readonly session: DemoSession;
  readonly prompt: Prompt;
  /** Fires when the turn is cancelled. */
  readonly signal: AbortSignal;
  readonly #answer: Deferred<object> | undefined;
  #messages = 0;

  constructor(session: DemoSession, prompt: Prompt, signal: AbortSignal, answer?: Deferred<object>) {
    this.session = session;
    this.prompt = prompt;
    this.signal = signal;
    this.#answer = answer;
  }

  /** Answers the prompt of version 1 before its turn is over; version 2 has answered already. */
  async answer(): Promise<void> {
    this.#answer?.resolve({ stopReason: 'end_turn' });
    await new Promise(setImmediate); // the answer is written before anything else
  }

  /** Streams one message word by word, at the pace that the user chose. */
  say(markdown: string): Promise<void> {
    return this.#stream('agent_message_chunk', markdown);
  }

  /** Streams one thought. */
  think(words: string): Promise<void> {
    return this.#stream('agent_thought_chunk', words);
  }

  /** Sends one update as it is. */
  async show(update: Update): Promise<void> {
    this.signal.throwIfAborted();
    await this.session.update(update);
  }

  /** Announces a tool call and gives the function that changes it later. */
  async tool(fields: ToolFields): Promise<{ id: string; change: (fields: ToolFields) => Promise<void> }> {
    const id = this.session.newId('tool');
    await this.show({ sessionUpdate: 'tool_call', toolCallId: id, status: 'pending', ...fields });
    return {
      id,
      change: (next) => this.show({ sessionUpdate: 'tool_call_update', toolCallId: id, ...next }),
    };
  }

  /** Asks for permission, unless the mode says that there is no need. */
  async mayI(toolCallId: string, fields: ToolFields): Promise<Decision> {
    if (this.session.settings.mode === 'auto') return 'once';
    const question = { toolCall: { toolCallId, ...fields }, options: OPTIONS };
    const params = this.session.version === 2 ? toV2Permission(question) : question;
    const answer = await this.call('session/request_permission', params);
    if (at(answer, 'outcome', 'outcome') !== 'selected') return 'dismissed';
    const decision = OPTIONS.find(({ optionId }) => optionId === at(answer, 'outcome', 'optionId'))?.optionId ?? 'no';
    if (decision === 'always') await this.session.changeMode('auto');
    return decision;
  }

  /** Calls the client, with the session's id added. @throws RpcFault */
  async call(method: string, params: object): Promise<unknown> {
    const { session, signal } = this;
    const asksUser = session.version === 2 && QUESTIONS.has(method);
    if (asksUser) await session.showState('requires_action');
    const answer = await session.wire.request(method, { sessionId: session.id, ...params }, signal);
    if (asksUser) await session.showState('running');
    return answer;
  }

  /**
   * Waits. Rejects when the turn is cancelled.
   * @param ms milliseconds at the natural pace; the user's pace scales it
   */
  async pause(ms: number): Promise<void> {
    const scaled = (ms * this.session.settings.wordMs) / 30;
    await this.wait(scaled);
  }

  /** Waits for so many milliseconds, whatever the pace. */
  async wait(ms: number): Promise<void> {
    this.signal.throwIfAborted();
    if (ms > 0) await sleep(ms, undefined, { signal: this.signal });
  }

  async #stream(kind: 'agent_message_chunk' | 'agent_thought_chunk', markdown: string): Promise<void> {
    const messageId = `${this.session.newId('message')}-${this.#messages++}`;
    for (const word of wordsOf(markdown)) {
      await this.show({ sessionUpdate: kind, messageId, content: { type: 'text', text: word } });
      this.session.count(word.length);
      await this.wait(this.session.settings.wordMs);
    }
  }
}

/**
 * Words with the space around them. Very short ones go with the next, such as the bars of a table.
 */
function wordsOf(markdown: string): string[] {
  return markdown.match(/(?:\s*\S{1,2}\s+)*\s*\S+\s*/g) ?? [markdown];
}
