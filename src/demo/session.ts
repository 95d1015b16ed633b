// A session of the demo agent. Updates outside of turns are deferred until `session/ready`. Turns
// of version 1 end with `turn_complete`, those of version 2 or started by the agent with `idle`.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Deferred } from '../base/deferred';
import { at } from '../base/untrusted';
import { type ClientCan, type KeptState, type Prompt, readState, type Version } from './input';
import { Settings } from './settings';
import { toV2Permission, toV2Update, type Update } from './versions';
import { RpcFault, type RpcId, type Wire } from './wire';

/** Plays one turn. Rejects if the turn was cancelled or is meant to fail. */
export type Scene = (turn: Turn) => Promise<void>;

export interface SessionOptions {
  readonly commands: () => object[];
  readonly sceneOf: (prompt: string) => Scene;
  readonly cwd: string;
  readonly wire: Wire;
  readonly can: ClientCan;
  readonly version: Version;
  readonly opening: { readonly method: string; readonly wasForgotten: boolean };
  readonly onForget: () => void;
}

export interface OpeningStep {
  /** Milliseconds since the request that opened the session. */
  readonly ms: number;
  readonly by: 'client' | 'agent';
  readonly message: string;
}

interface SentPrompt {
  readonly prompt: Prompt;
  readonly requestId: RpcId;
  readonly answer: Deferred<object>;
}

const CONTEXT_SIZE = 200_000;
/** Tokens used by the system prompt. */
const EMPTY_CONTEXT = 1200;
const REQUEST_CANCELLED = -32800;
const NO_PROMPT: Prompt = { blocks: [], text: '', attachments: [] };

export class DemoSession {
  readonly id: string;
  readonly options: SessionOptions;
  readonly version: Version;
  readonly cwd: string;
  readonly can: ClientCan;
  readonly wire: Wire;
  readonly settings: Settings;
  #opening: OpeningStep[] = [];
  #openedAt = 0;
  /** What the client stores for this session (`parley/state`); undefined if nothing. */
  state: KeptState | undefined;
  #ready = false;
  #hasPrompt = false;
  #hasTitle = false;
  #usedTokens = EMPTY_CONTEXT;
  readonly #idPrefix = randomUUID().slice(0, 8);
  #idCount = 0;
  #turn: { readonly requestId: RpcId | undefined; readonly abort: AbortController } | undefined;
  #joinedRequestIds: RpcId[] = [];
  readonly #heldPrompts: SentPrompt[] = [];
  readonly #steeredPrompts: Prompt[] = [];
  readonly #agentTurns: Scene[] = [];
  readonly #afterTurn: (() => Promise<void>)[] = [];
  readonly #background = new Set<string>();
  readonly #closing = new AbortController();
  #currentTurn: Promise<void> | undefined;

  constructor(id: string, options: SessionOptions) {
    this.id = id;
    this.options = options;
    ({ version: this.version, cwd: this.cwd, can: this.can, wire: this.wire } = options);
    this.settings = new Settings(options.can.booleanOptions);
    this.#hasTitle = options.opening.wasForgotten;
    this.opens(options.opening.method);
  }

  opens(method: string): void {
    this.#ready = false;
    this.#hasPrompt = false;
    this.#openedAt = Date.now();
    this.#opening = [];
    this.#note('client', method);
  }

  opened(method: string): void {
    this.#note('agent', `answer to ${method}`);
  }

  get opening(): readonly OpeningStep[] {
    return this.#opening;
  }

  /** Sends the deferred updates once the client is ready for them. */
  async ready(by: 'client' | 'prompt'): Promise<void> {
    if (this.#ready) return;
    this.#ready = true;
    if (by === 'client') this.#note('client', 'session/ready');
    await this.update({ sessionUpdate: 'available_commands_update', availableCommands: this.options.commands() });
    await this.showUsage();
  }

  async storeState(content: string): Promise<void> {
    const previous = this.state?.url ?? null;
    this.state = { url: previous, content, hasConflict: false };
    const stored = { previous, content: Buffer.from(content).toString('base64') };
    await this.update({ sessionUpdate: 'session_info_update', _meta: { 'parley/state': stored } });
  }

  /** Runs a prompt. @throws RpcFault */
  prompt(prompt: Prompt, requestId: RpcId, offer: unknown): Promise<object> {
    if (this.version === 1 && this.#turn?.requestId !== undefined)
      throw new RpcFault(-32600, 'A turn is running; the demo agent plays one at a time.');
    this.state = readState(offer, this.state);
    const answer = new Deferred<object>();
    this.#heldPrompts.push({ prompt, requestId, answer });
    this.#next();
    return answer.promise;
  }

  /** Handles `_session/steering`: the message joins the running turn at its next break. */
  steer(prompt: Prompt): object {
    if (this.#turn?.requestId === undefined) return { outcome: 'promptRequired' };
    this.#steeredPrompts.push(prompt);
    return { outcome: 'injected' };
  }

  /** Moves a waiting message into the running turn. Sends a held prompt's receipt first. */
  async takeIn(withPrompts: boolean): Promise<{ readonly prompt: Prompt; readonly messageId?: string } | undefined> {
    const steered = this.#steeredPrompts.shift();
    if (steered) return { prompt: steered };
    const held = withPrompts ? this.#heldPrompts.shift() : undefined;
    if (!held) return undefined;
    this.#joinedRequestIds.push(held.requestId);
    return { prompt: held.prompt, messageId: await this.#insert(held) };
  }

  /** Continues a tool call after the running turn, then starts a turn. */
  continueInBackground(toolCallId: string, work: Scene, report: Scene): void {
    this.#background.add(toolCallId);
    this.#afterTurn.push(async () => {
      try {
        await work(new Turn(this, NO_PROMPT, this.#closing.signal));
        this.#background.delete(toolCallId);
        this.beginTurn(report);
      } catch {
        // The session was closed.
      }
    });
  }

  beginTurn(scene: Scene): void {
    this.#agentTurns.push(scene);
    this.#next();
  }

  /** Cancels the running turn, or only what the request started. @returns unsent messages */
  cancel(requestId?: unknown): void {
    for (const held of this.#heldPrompts.filter((one) => requestId === undefined || one.requestId === requestId)) {
      this.#heldPrompts.splice(this.#heldPrompts.indexOf(held), 1);
      if (this.can.receipts) {
        held.answer.reject(new RpcFault(REQUEST_CANCELLED, 'Cancelled before the demo agent took it in.'));
        continue;
      }
      // Clients without support for receipts count this as a turn.
      void this.#complete(held.requestId, { stopReason: 'cancelled' });
      held.answer.resolve({ stopReason: 'cancelled' });
    }
    if (requestId === undefined || this.#turn?.requestId === requestId) this.#turn?.abort.abort();
  }

  async close(): Promise<void> {
    this.#agentTurns.length = 0;
    this.#closing.abort();
    this.cancel();
    await this.#currentTurn;
  }

  async update(update: Update): Promise<void> {
    const sent = this.version === 2 ? toV2Update(update) : update;
    if (sent === undefined) return;
    this.#note('agent', update.sessionUpdate);
    await this.wire.notify('session/update', { sessionId: this.id, update: sent });
  }

  showState(state = this.#turn ? 'running' : 'idle', more: object = {}): Promise<void> {
    const background = [...this.#background].map((toolCallId) => ({ type: 'tool_call', toolCallId }));
    const update = { sessionUpdate: 'state_update', state, background, ...more };
    this.#note('agent', update.sessionUpdate);
    return this.wire.notify('session/update', { sessionId: this.id, update });
  }

  async changeMode(mode: string): Promise<void> {
    this.settings.setMode(mode);
    await this.update({ sessionUpdate: 'current_mode_update', currentModeId: mode });
    await this.update({ sessionUpdate: 'config_option_update', configOptions: this.settings.options() });
  }

  newId(kind: string): string {
    return `${kind}-${this.#idPrefix}-${++this.#idCount}`;
  }

  /** Adds characters to the used context. */
  count(characters: number): void {
    this.#usedTokens = Math.min(CONTEXT_SIZE, this.#usedTokens + Math.ceil(characters / 4));
  }

  #next(): void {
    if (this.#turn) return;
    const scene = this.#agentTurns.shift();
    const sent = scene ? undefined : this.#heldPrompts.shift();
    if (scene) this.#currentTurn = this.#play(scene, undefined);
    else if (sent) this.#currentTurn = this.#play(this.#sceneFor(sent.prompt), sent);
  }

  #sceneFor({ text }: Prompt): Scene {
    const scene = this.options.sceneOf(text);
    const { method, wasForgotten } = this.options.opening;
    if (this.#hasPrompt || !wasForgotten) return scene;
    return async (turn) => {
      await turn.say(`I had forgotten this session. Your client opened it again with \`${method}\`.\n\n`);
      if (text.startsWith('/')) await scene(turn);
    };
  }

  async #play(scene: Scene, sent: SentPrompt | undefined): Promise<void> {
    const abort = new AbortController();
    this.#turn = { requestId: sent?.requestId, abort };
    let stopReason = 'end_turn';
    let fault: RpcFault | undefined;
    try {
      await this.ready('prompt');
      this.#hasPrompt = true;
      if (this.version === 2 || !sent) await this.showState('running');
      if (sent && this.version === 2) await this.#insert(sent);
      if (sent) await this.#giveTitle(sent.prompt);
      const prompt = sent?.prompt ?? NO_PROMPT;
      const turn = new Turn(this, prompt, abort.signal, sent?.answer);
      this.count(prompt.text.length);
      await scene(turn);
      await turn.takeIn();
    } catch (error) {
      if (abort.signal.aborted) stopReason = 'cancelled';
      else fault = error instanceof RpcFault ? error : new RpcFault(-32603, `The demo agent failed: ${String(error)}`);
    }
    await this.showUsage();
    await this.#end(sent, stopReason, fault);
  }

  async #end(sent: SentPrompt | undefined, stopReason: string, fault: RpcFault | undefined): Promise<void> {
    const promptId = sent ? sent.requestId : this.#joinedRequestIds.at(-1);
    const complete = async (): Promise<void> => {
      if (this.version === 2 || promptId === undefined) return;
      await this.#complete(promptId, fault ? {} : { stopReason });
    };
    // Not part of version 1, but clients that support this state keep the call open.
    if (this.version === 1 && sent && this.#background.size > 0) await this.showState('idle');
    if (!fault) await complete();
    this.#joinedRequestIds = [];
    this.#steeredPrompts.length = 0;
    this.#turn = undefined;
    if (this.version === 2 || !sent) {
      const error = fault && { code: fault.code, message: fault.message, data: fault.data };
      await this.showState('idle', error ? { stopReason: 'error', error } : { stopReason });
    } else if (fault) sent.answer.reject(fault);
    else sent.answer.resolve({ stopReason });
    await new Promise(setImmediate); // the response is written first
    if (fault) await complete();
    for (const start of this.#afterTurn.splice(0)) void start();
    this.#next();
  }

  #complete(promptId: RpcId, reason: { readonly stopReason?: string }): Promise<void> {
    return this.update({ sessionUpdate: 'turn_complete', promptRequestId: String(promptId), ...reason });
  }

  async #insert({ prompt, answer }: SentPrompt): Promise<string> {
    const messageId = this.newId('user');
    answer.resolve({ messageId });
    await new Promise(setImmediate); // the receipt is written first
    await this.update({ sessionUpdate: 'user_message', messageId, content: prompt.blocks });
    return messageId;
  }

  async #giveTitle({ text }: Prompt): Promise<void> {
    if (this.#hasTitle || text === '') return;
    this.#hasTitle = true;
    const line = text.split('\n', 1)[0] ?? '';
    const title = `Demo: ${line.length > 40 ? `${line.slice(0, 39)}…` : line}`;
    await this.update({ sessionUpdate: 'session_info_update', title, updatedAt: new Date().toISOString() });
  }

  async forgetContext(): Promise<void> {
    this.#usedTokens = EMPTY_CONTEXT;
    await this.showUsage();
  }

  async showUsage(meta?: object): Promise<void> {
    const context = { used: this.#usedTokens, size: CONTEXT_SIZE };
    await this.update({ sessionUpdate: 'usage_update', ...context, ...(meta && { _meta: meta }) });
  }

  #note(by: 'client' | 'agent', message: string): void {
    if (!this.#hasPrompt) this.#opening.push({ ms: Date.now() - this.#openedAt, by, message });
  }
}

/** Tool call fields that scenes use (v1, section "Tool calls"). */
export interface ToolFields {
  readonly title?: string;
  readonly kind?: 'read' | 'edit' | 'search' | 'execute' | 'think' | 'fetch';
  readonly status?: 'pending' | 'in_progress' | 'completed' | 'failed';
  readonly content?: readonly object[];
  readonly locations?: readonly { readonly path: string; readonly line?: number }[];
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
}

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
  readonly signal: AbortSignal;
  readonly #answer: Deferred<object> | undefined;
  #messages = 0;

  constructor(session: DemoSession, prompt: Prompt, signal: AbortSignal, answer?: Deferred<object>) {
    this.session = session;
    this.prompt = prompt;
    this.signal = signal;
    this.#answer = answer;
  }

  async answer(): Promise<void> {
    this.#answer?.resolve({ stopReason: 'end_turn' });
    await new Promise(setImmediate); // the response is written first
  }

  say(markdown: string): Promise<void> {
    return this.#stream('agent_message_chunk', markdown);
  }

  think(words: string): Promise<void> {
    return this.#stream('agent_thought_chunk', words);
  }

  /** Replies to the messages that joined the turn. @param withPrompts includes held prompts */
  async takeIn(withPrompts = false): Promise<void> {
    for (let sent = await this.session.takeIn(withPrompts); sent; sent = await this.session.takeIn(withPrompts)) {
      const { prompt, messageId } = sent;
      const id = messageId && ` The receipt and the message above have the same id, \`${messageId}\`.`;
      await this.say(`I took in “${prompt.text}”.${id ?? ''} I go on with it in mind.\n`);
    }
  }

  async show(update: Update): Promise<void> {
    this.signal.throwIfAborted();
    await this.session.update(update);
  }

  async tool(fields: ToolFields): Promise<{ id: string; change: (fields: ToolFields) => Promise<void> }> {
    const id = this.session.newId('tool');
    await this.show({ sessionUpdate: 'tool_call', toolCallId: id, status: 'pending', ...fields });
    return {
      id,
      change: (next) => this.show({ sessionUpdate: 'tool_call_update', toolCallId: id, ...next }),
    };
  }

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

  /** Sends a request to the client, adding the session id. @throws RpcFault */
  async call(method: string, params: object): Promise<unknown> {
    const { session, signal } = this;
    const asksUser = session.version === 2 && QUESTIONS.has(method);
    if (asksUser) await session.showState('requires_action');
    const answer = await session.wire.request(method, { sessionId: session.id, ...params }, signal);
    if (asksUser) await session.showState('running');
    return answer;
  }

  /** Waits for `ms`, scaled to the user's pace. Rejects if the turn is cancelled. */
  async pause(ms: number): Promise<void> {
    const scaled = (ms * this.session.settings.wordMs) / 30;
    await this.wait(scaled);
  }

  /** Waits for a fixed duration in milliseconds. */
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

/** Returns words including surrounding whitespace. */
function wordsOf(markdown: string): string[] {
  return markdown.match(/(?:\s*\S{1,2}\s+)*\s*\S+\s*/g) ?? [markdown];
}
