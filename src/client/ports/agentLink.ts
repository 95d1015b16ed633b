// A running agent as a conversation sees it, however it is reached: its description, its dialect
// and its end.

import type { RpcConnection } from '../../acp/jsonrpc/rpcConnection';
import type { AuthStatus } from '../../acp/protocol/authStatus';
import type { AgentDescription, Dialect, McpServer } from '../../acp/protocol/dialect';
import type { UpdateRouter } from '../../acp/protocol/earlyUpdates';
import type { McpReport } from '../../acp/quirks/mcpReports';
import type { Disposable } from '../../base/disposable';
import type { ParleyError } from '../../base/errors';
import type { Event } from '../../base/event';
import type { LocalizableText } from '../../base/localizable';
import type { KeptSession } from './keptAgent';
import type { Instructions } from './ports';

export interface AgentLink extends Disposable {
  readonly router: UpdateRouter;
  /** Absent: not a JSON-RPC agent. */
  readonly rpc?: RpcConnection;
  readonly description: AgentDescription;
  readonly dialect: Dialect;
  readonly kept?: KeptSession | undefined;
  /** What the last opened session got: MCP servers, why others were left out, instructions. */
  given?: {
    readonly servers: readonly McpServer[];
    readonly problems: readonly LocalizableText[];
    readonly systemPrompt: readonly Instructions[];
    /** Our own server; `listed` is the number of its tools, once the agent has asked for them. */
    readonly tools?: { readonly program: McpServer; readonly listed?: number | undefined } | undefined;
  };
  /** MCP servers that the agent couldn't use, by its names for them. */
  mcpReports?: Map<string, McpReport & { readonly at: number }>;
  /** Who is signed in, as the agent has told last. */
  authStatus?: AuthStatus | undefined;
  /** Fired once; not after `dispose()`. */
  readonly onDidEnd: Event<ParleyError>;
  readonly isAlive: boolean;
  throwIfEnded(): void;
  /** Runs a request that fails with how the agent ended, not just with a closed connection. */
  until<T>(run: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T>;
  describe(error: unknown, step: string): Promise<ParleyError>;
  /** Ends the agent or the connection; resolves when done. */
  close(): Promise<void>;
}

export interface OpenedSession {
  readonly link: AgentLink;
  readonly sessionId: string;
}
