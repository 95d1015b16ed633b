// The state of a distributed session for agents of this protocol (an extension of Parley, in
// `_meta`; docs/protocol.md, "State of an agent"). It is the agent's own, opaque to everybody else,
// and goes with the session to other servers. The client offers it with each prompt; the agent
// replaces it with a session update that names what it replaces.
import { at } from '../../base/untrusted';
import type { RpcCaller } from '../jsonrpc/rpcConnection';

const KEY = 'parley/state';
/** Bytes of a state that goes to or comes from an agent. */
export const MAX_AGENT_STATE = 4 * 1024 * 1024;

export const STATE_CAPABILITY = { [KEY]: { version: 1, maxBytes: MAX_AGENT_STATE } };

export interface StateOffer {
  readonly url: string | null;
  /** Base64. Absent if the agent has these bytes, or `unavailable` says why they can't be had. */
  readonly content?: string;
  readonly unavailable?: string;
  /** The last state that the agent wanted to store was not stored: another one came first. */
  readonly conflict?: true;
}

export interface StateUpdate {
  readonly previous: string | null;
  readonly bytes: Uint8Array;
}

export interface StateHolder {
  /**
   * Looks up the state for the prompt that is sent next; undefined where nothing has to be looked
   * up. Rejects where the signal is aborted.
   */
  preparation(): ((signal: AbortSignal) => Promise<void>) | undefined;
  offer(): StateOffer | undefined;
  opened(): void;
  /** Takes what the agent stores. Never throws. */
  store(update: StateUpdate): void;
}

const OPENING: ReadonlySet<string> = new Set(['session/new', 'session/load', 'session/resume', 'session/fork']);

export function stateful(rpc: RpcCaller, holder: StateHolder | undefined): RpcCaller {
  if (!holder) return rpc;
  return {
    request(method, params, options) {
      if (OPENING.has(method)) holder.opened();
      const offer = method === 'session/prompt' ? holder.offer() : undefined;
      if (!offer || typeof params !== 'object' || params === null) return rpc.request(method, params, options);
      const { _meta } = params as { readonly _meta?: object };
      return rpc.request(method, { ...params, _meta: { ..._meta, [KEY]: offer } }, options);
    },
    notify: (method, params) => rpc.notify(method, params),
  };
}

/** Reads the state that an update stores; a sentence if it can't be stored. */
export function readStateUpdate(update: unknown): StateUpdate | string | undefined {
  const value = at(update, '_meta', KEY);
  if (value === undefined || value === null) return undefined;
  const [previous = null, content] = [at(value, 'previous'), at(value, 'content')];
  if (typeof content !== 'string' || (previous !== null && typeof previous !== 'string')) {
    return 'it is not of the form { previous, content }';
  }
  if (content.length > (MAX_AGENT_STATE / 3) * 4 + 4) return `it has more than ${MAX_AGENT_STATE} bytes`;
  return { previous, bytes: Buffer.from(content, 'base64') };
}
