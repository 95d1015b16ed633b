// Stores the state of a chat's session for its agent: beside the session's messages, read from
// wherever it lies, and replaced only by the agent that stored it.
import { messageOf } from '../../base/errors';
import type { SessionState } from '../ports/agentServers';
import { roleName } from '../ports/messages';
import { urlIdentity } from '../ports/resources';
import type { SessionLog } from './sessionLog';
import type { ChatKeeper } from './stateExchange';

export interface ChatStateOptions {
  readonly messages: Pick<SessionLog, 'hasState' | 'state' | 'stateBy' | 'storeState'>;
  readonly agent: () => { readonly id: string; readonly name: string };
  /** Reads a state on another server, or returns why it can't. */
  readonly fetch: (url: string, signal: AbortSignal) => Promise<Uint8Array | string>;
  /** How long a message waits for the state, in milliseconds (10,000). */
  readonly readMs?: number;
}

/**
 * Only the agent that stored a state may read and replace it.
 * @param by its id, or its name as a role
 */
export function isStateOf(
  by: string | undefined,
  { id, name }: { readonly id: string; readonly name: string },
): boolean {
  return by !== undefined && by !== '' && (by === id || by === roleName(name) || by === roleName(id));
}

export class ChatState implements ChatKeeper {
  readonly #options: ChatStateOptions;
  /** The last state of our own that was read or stored: it never changes under its URL. */
  #last: { readonly url: string; readonly bytes: Uint8Array } | undefined;

  constructor(options: ChatStateOptions) {
    this.#options = options;
  }

  get hasState(): boolean | undefined {
    return this.#options.messages.hasState;
  }

  /** @throws ParleyError of the stores where the state can't even be named; the signal's reason */
  async read(signal: AbortSignal): Promise<SessionState | undefined> {
    const { messages, agent, fetch, readMs = 10_000 } = this.#options;
    const state = await messages.state();
    if (!state) return undefined;
    const { url, read } = state;
    if (!isStateOf(messages.stateBy, agent())) return { url, content: 'Another agent stored it.' };
    if (this.#last && urlIdentity(this.#last.url) === urlIdentity(url)) return { url, content: this.#last.bytes };
    const either = AbortSignal.any([signal, AbortSignal.timeout(readMs)]);
    try {
      if (!read) return { url, content: await fetch(url, either) };
      const bytes = await read(either);
      this.#last = { url, bytes };
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
    if (url !== undefined) this.#last = { url, bytes: content };
    return url;
  }
}
