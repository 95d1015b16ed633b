// The state of a distributed session for agents (an extension of Parley in `_meta`;
// docs/protocol.md, "State of an agent"). It is opaque to everyone but the agent and moves with the
// session between servers. The client offers it with each prompt; the agent replaces it by a
// session update that names the replaced state.
import { at } from '../../base/untrusted';
import type { RpcCaller } from '../jsonrpc/rpcConnection';

const KEY = 'parley/state';
/** In bytes. */
export const MAX_AGENT_STATE = 4 * 1024 * 1024;

export const STATE_CAPABILITY = { [KEY]: { version: 1, maxBytes: MAX_AGENT_STATE } };

export interface StateOffer {
  readonly url: string | null;
  /** Base64. Absent if the agent has these bytes, or if `unavailable` says why there are none. */
  readonly content?: string;
  readonly unavailable?: string;
  /** The agent's last state was not stored, because another one was stored first. */
  readonly conflict?: true;
}

export interface StateUpdate {
  readonly previous: string | null;
  readonly bytes: Uint8Array;
}

export interface StateHolder {
  /** Looks up the state for the next prompt, if necessary. Rejects when the signal is aborted. */
  preparation(): ((signal: AbortSignal) => Promise<void>) | undefined;
  offer(): StateOffer | undefined;
  opened(): void;
  /** Never throws. */
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

/** Returns a sentence if the state can't be stored. */
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
