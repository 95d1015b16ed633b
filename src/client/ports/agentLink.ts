// A running agent as a conversation sees it, however it is reached: its description, its dialect
// and its end.

import type { RpcConnection } from '../../acp/jsonrpc/rpcConnection';
import type { AgentDescription, Dialect, McpServer } from '../../acp/protocol/dialect';
import type { UpdateRouter } from '../../acp/protocol/earlyUpdates';
import type { Disposable } from '../../base/disposable';
import type { ParleyError } from '../../base/errors';
import type { Event } from '../../base/event';
import type { LocalizableText } from '../../base/localizable';
import type { KeptSession } from './keptAgent';

export interface AgentLink extends Disposable {
  /** Where its sessions hear of what happens in them. */
  readonly router: UpdateRouter;
  /** Absent: it is no agent of JSON-RPC, and has no feature that needs one. */
  readonly rpc?: RpcConnection;
  readonly description: AgentDescription;
  readonly dialect: Dialect;
  /** The agent outlives this window. */
  readonly kept?: KeptSession | undefined;
  /** The MCP servers of the session that was opened last, and why others are not among them. */
  given?: { readonly servers: readonly McpServer[]; readonly problems: readonly LocalizableText[] };
  /** The agent is gone, with how. Fired once; not after `dispose()`. */
  readonly onDidEnd: Event<ParleyError>;
  readonly isAlive: boolean;
  /** @throws ParleyError how the agent ended, where it has. */
  throwIfEnded(): void;
  /**
   * Runs a request so that the death of the agent rejects it with how the agent died, not just with
   * a closed connection.
   */
  until<T>(run: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T>;
  /** A failure as the user reads it: who, what, the last stderr lines, what to do. */
  describe(error: unknown, step: string): Promise<ParleyError>;
  /**
   * Ends the agent and everything that it started, or says goodbye to it; resolves when that is
   * done.
   */
  close(): Promise<void>;
}

/** A session that prompts can be sent to. */
export interface OpenedSession {
  readonly link: AgentLink;
  readonly sessionId: string;
}
