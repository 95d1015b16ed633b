// Exchanges the state of one conversation's distributed session between the agent and its keeper:
// what the agent was offered, what it has stored since, and whether another writer came first.

import * as l10n from '@vscode/l10n';
import { MAX_AGENT_STATE, type StateHolder, type StateOffer, type StateUpdate } from '../../acp/proposals/sessionState';
import { messageOf } from '../../base/errors';
import { KeyedQueue } from '../../base/keyedQueue';
import { type Log, silentLog } from '../../base/log';
import type { RunState, SessionState } from '../ports/agentServers';
import { roleName } from '../ports/messages';
import { urlIdentity } from '../ports/resources';
import type { SessionLog } from './sessionLog';

export interface ChatKeeper extends RunState {
  readonly hasState: boolean | undefined;
}

export class StateExchange implements StateHolder {
  readonly #log: Log;
  readonly #jobs = new KeyedQueue<'store'>();
  #keeper: RunState | undefined;
  readonly #chatKeeper: ChatKeeper | undefined;
  #url: string | undefined;
  #content: Uint8Array | string | undefined;
  #storedUrl: string | undefined;
  #urlKnownToAgent: string | undefined;
  #hasConflict = false;
  #isRefused = false;
  #pendingState: Uint8Array | undefined;
  #isStoring = false;

  /**
   * @param keeper keeps the state of all turns; absent: each turn has its own, see {@link prepare}
   */
  constructor(log: Log = silentLog, keeper?: ChatKeeper) {
    this.#log = log;
    this.#chatKeeper = keeper;
  }

  preparation(): ((signal: AbortSignal) => Promise<void>) | undefined {
    const keeper = this.#chatKeeper;
    if (!keeper) return undefined;
    const isIdle = !this.#isStoring && this.#pendingState === undefined;
    if (this.#keeper && isIdle && keeper.hasState === false) return undefined;
    return async (signal) => {
      await this.settled();
      try {
        await this.prepare(keeper, signal);
      } catch (error) {
        signal.throwIfAborted();
        // The agent can't continue a state without a name.
        this.#keeper = undefined;
        this.#log.warn(`The state of the session is not known: ${messageOf(error)}`);
      }
    };
  }

  async prepare(keeper: RunState, signal: AbortSignal): Promise<void> {
    const state = await keeper.read(signal);
    this.#keeper = keeper;
    this.#url = state?.url;
    this.#content = state?.content;
    this.#storedUrl = undefined;
  }

  settled(): Promise<void> {
    return this.#jobs.run('store', async () => {});
  }

  offer(): StateOffer | undefined {
    if (!this.#keeper) return undefined;
    const conflict = this.#hasConflict;
    this.#hasConflict = false;
    const head = { url: this.#url ?? null, conflict: conflict ? (true as const) : undefined };
    const content = this.#content;
    if (content === undefined || isSameState(this.#urlKnownToAgent, this.#url)) return head;
    if (typeof content === 'string') return { ...head, unavailable: content };
    if (content.length > MAX_AGENT_STATE)
      return { ...head, unavailable: l10n.t('It has more than {0} bytes.', MAX_AGENT_STATE) };
    this.#urlKnownToAgent = this.#url;
    return { ...head, content: Buffer.from(content).toString('base64') };
  }

  opened(): void {
    this.#urlKnownToAgent = undefined;
  }

  store({ previous, bytes }: StateUpdate): void {
    const keeper = this.#keeper;
    this.#isRefused = !keeper || !isSameState(previous ?? undefined, this.#url);
    if (this.#isRefused) this.#hasConflict = true;
    if (!keeper || this.#isRefused) return;
    // Only the last of several waiting states counts, so that they don't pile up.
    const isWaiting = this.#pendingState !== undefined;
    this.#pendingState = bytes;
    if (!isWaiting) void this.#jobs.run('store', () => this.#storeNext(keeper));
  }

  async #storeNext(keeper: RunState): Promise<void> {
    const bytes = this.#pendingState;
    this.#pendingState = undefined;
    if (!bytes) return;
    this.#isStoring = true;
    try {
      const stored = await keeper.store(bytes, this.#storedUrl ?? this.#url);
      this.#hasConflict = stored === undefined || this.#isRefused;
      if (stored === undefined) return;
      this.#storedUrl = stored;
      this.#urlKnownToAgent = stored;
    } catch (error) {
      this.#hasConflict = true;
      this.#log.warn(`The state of an agent is not kept: ${messageOf(error)}`);
    } finally {
      this.#isStoring = false;
    }
  }
}

/** Compares links, whenever they were signed. */
function isSameState(url: string | undefined, otherUrl: string | undefined): boolean {
  return (
    url === otherUrl || (url !== undefined && otherUrl !== undefined && urlIdentity(url) === urlIdentity(otherUrl))
  );
}

export interface ChatStateOptions {
  readonly messages: Pick<SessionLog, 'hasState' | 'state' | 'stateBy' | 'storeState'>;
  readonly agent: () => { readonly id: string; readonly name: string };
  readonly fetch: (url: string, signal: AbortSignal) => Promise<Uint8Array | string>;
  /** In ms (10,000). */
  readonly readMs?: number;
}

/** Only the agent that stored a state may use it. `by`: its id or role name. */
export function isStateOf(
  by: string | undefined,
  { id, name }: { readonly id: string; readonly name: string },
): boolean {
  return by !== undefined && by !== '' && (by === id || by === roleName(name) || by === roleName(id));
}

export class ChatState implements ChatKeeper {
  readonly #options: ChatStateOptions;
  /** The last state of our own that was read or stored; a URL's content never changes. */
  #cached: { readonly url: string; readonly bytes: Uint8Array } | undefined;

  constructor(options: ChatStateOptions) {
    this.#options = options;
  }

  get hasState(): boolean | undefined {
    return this.#options.messages.hasState;
  }

  /** @throws ParleyError of the stores if the state can't even be named; the signal's reason */
  async read(signal: AbortSignal): Promise<SessionState | undefined> {
    const { messages, agent, fetch, readMs = 10_000 } = this.#options;
    const state = await messages.state();
    if (!state) return undefined;
    const { url, read } = state;
    if (!isStateOf(messages.stateBy, agent())) return { url, content: 'Another agent stored it.' };
    if (this.#cached && urlIdentity(this.#cached.url) === urlIdentity(url)) return { url, content: this.#cached.bytes };
    const either = AbortSignal.any([signal, AbortSignal.timeout(readMs)]);
    try {
      if (!read) return { url, content: await fetch(url, either) };
      const bytes = await read(either);
      this.#cached = { url, bytes };
      return { url, content: bytes };
    } catch (error) {
      signal.throwIfAborted();
      return { url, content: messageOf(error) };
    }
  }

  async store(content: Uint8Array, previous: string | undefined): Promise<string | undefined> {
    const { messages, agent } = this.#options;
    const { id, name } = agent();
    if ((await messages.state()) && !isStateOf(messages.stateBy, { id, name })) return undefined;
    if (!(await messages.storeState(content, previous, id))) return undefined;
    const url = (await messages.state())?.url;
    if (url !== undefined) this.#cached = { url, bytes: content };
    return url;
  }
}
