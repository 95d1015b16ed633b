// One session of the demo agent: its choices, its running turn, and the two proposals that it
// speaks about sessions: it holds back what belongs to no turn until the client says
// `session/ready`, and it closes each turn with `turn_complete`.
import { randomUUID } from 'node:crypto';
import { at, type Prompt } from './input';
import { commands, sceneOf } from './scenes';
import { Settings } from './settings';
import { Turn } from './turn';
import { RpcFault, type RpcId, type Wire } from './wire';

/** What the client said it can do, in the words of `initialize`. */
export interface ClientCan {
  readonly readFiles: boolean;
  readonly writeFiles: boolean;
  readonly terminals: boolean;
  readonly booleanOptions: boolean;
  readonly forms: boolean;
}

/** The state of the session, as the agent knows it. */
export interface KeptState {
  readonly url: string | null;
  readonly content: string;
  readonly hasConflict: boolean;
  readonly unavailable?: string;
}

const CONTEXT_SIZE = 200_000;

export class DemoSession {
  readonly id: string;
  readonly cwd: string;
  readonly wire: Wire;
  readonly can: ClientCan;
  readonly settings: Settings;
  /**
   * What the client keeps for the agents of this session; undefined where it keeps nothing
   * (`parley/state`).
   */
  #state: KeptState | undefined;
  #ready = false;
  #titled = false;
  #used = 1200;
  readonly #run = randomUUID().slice(0, 8);
  #ids = 0;
  #turn: { readonly requestId: RpcId; readonly abort: AbortController } | undefined;

  constructor(id: string, cwd: string, wire: Wire, can: ClientCan) {
    this.id = id;
    this.cwd = cwd;
    this.wire = wire;
    this.can = can;
    this.settings = new Settings(can.booleanOptions);
  }

  /** The client knows this session now: what was held back may go. Saying it twice is harmless. */
  async ready(): Promise<void> {
    if (this.#ready) return;
    this.#ready = true;
    await this.update({ sessionUpdate: 'available_commands_update', availableCommands: commands() });
    await this.#showUsage();
  }

  get state(): KeptState | undefined {
    return this.#state;
  }

  /** Replaces the state that the client offered with this prompt. */
  async storeState(content: string): Promise<void> {
    const previous = this.#state?.url ?? null;
    this.#state = { url: previous, content, hasConflict: false };
    const kept = { previous, content: Buffer.from(content).toString('base64') };
    await this.update({ sessionUpdate: 'session_info_update', _meta: { 'parley/state': kept } });
  }

  /**
   * Runs one turn.
   * @param offer the state of the session
   * @returns the result of session/prompt
   * @throws RpcFault
   */
  async prompt(prompt: Prompt, requestId: RpcId, offer: unknown): Promise<object> {
    this.#state = readState(offer, this.#state);
    if (this.#turn !== undefined) throw new RpcFault(-32600, 'A turn is running; the demo agent plays one at a time.');
    const abort = new AbortController();
    this.#turn = { requestId, abort };
    try {
      await this.ready(); // a client that knows nothing of the signal has shown with its prompt that it knows the session
      await this.#giveTitle(prompt);
      this.count(prompt.text.length);
      const stopReason = await this.#play(new Turn(this, prompt, abort.signal));
      await this.#showUsage();
      await this.update({ sessionUpdate: 'turn_complete', promptRequestId: String(requestId), stopReason });
      return { stopReason };
    } finally {
      this.#turn = undefined;
    }
  }

  /** Ends the running turn, if there is one; with a request id only if it is that request's. */
  cancel(requestId?: unknown): void {
    if (requestId === undefined || this.#turn?.requestId === requestId) this.#turn?.abort.abort();
  }

  /** Sends a session update. */
  update(update: object): Promise<void> {
    return this.wire.notify('session/update', { sessionId: this.id, update });
  }

  /** Changes the mode from the agent's side and says so in both of the protocol's ways. */
  async changeMode(mode: string): Promise<void> {
    this.settings.setMode(mode);
    await this.update({ sessionUpdate: 'current_mode_update', currentModeId: mode });
    await this.update({ sessionUpdate: 'config_option_update', configOptions: this.settings.options() });
  }

  /** An id that no other thing of this session has, also when another process continues it. */
  newId(kind: string): string {
    return `${kind}-${this.#run}-${++this.#ids}`;
  }

  /** Counts characters that came or went as used context. */
  count(characters: number): void {
    this.#used = Math.min(CONTEXT_SIZE, this.#used + Math.ceil(characters / 4));
  }

  async #play(turn: Turn): Promise<'end_turn' | 'cancelled'> {
    try {
      await sceneOf(turn.prompt.text)(turn);
      return 'end_turn';
    } catch (error) {
      if (turn.signal.aborted) return 'cancelled';
      throw error;
    }
  }

  async #giveTitle({ text }: Prompt): Promise<void> {
    if (this.#titled || text === '') return;
    this.#titled = true;
    const line = text.split('\n', 1)[0] ?? '';
    const title = `Demo: ${line.length > 40 ? `${line.slice(0, 39)}…` : line}`;
    await this.update({ sessionUpdate: 'session_info_update', title, updatedAt: new Date().toISOString() });
  }

  async #showUsage(): Promise<void> {
    await this.update({ sessionUpdate: 'usage_update', used: this.#used, size: CONTEXT_SIZE });
  }
}

/** Content that is not sent is that of before. */
function readState(offer: unknown, known: KeptState | undefined): KeptState | undefined {
  if (typeof offer !== 'object' || offer === null) return undefined;
  const [url, content, unavailable] = ['url', 'content', 'unavailable'].map((name) => at(offer, name));
  return {
    url: typeof url === 'string' ? url : null,
    content: typeof content === 'string' ? Buffer.from(content, 'base64').toString('utf8') : (known?.content ?? ''),
    hasConflict: at(offer, 'conflict') === true,
    ...(typeof unavailable === 'string' && { unavailable }),
  };
}

/** Reads the capabilities of the client (v1, section "Initialization"). */
export function clientCan(params: unknown): ClientCan {
  const capabilities = at(params, 'clientCapabilities');
  const booleans = at(capabilities, 'session', 'configOptions', 'boolean');
  return {
    readFiles: at(capabilities, 'fs', 'readTextFile') === true,
    writeFiles: at(capabilities, 'fs', 'writeTextFile') === true,
    terminals: at(capabilities, 'terminal') === true,
    forms: at(params, 'clientCapabilities', 'elicitation', 'form') != null,
    booleanOptions: typeof booleans === 'object' && booleans !== null,
  };
}
