// A running agent as a conversation sees it, whatever the transport: its description, dialect and
// end.

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
  /** Absent if the agent doesn't speak JSON-RPC. */
  readonly rpc?: RpcConnection;
  readonly description: AgentDescription;
  readonly dialect: Dialect;
  readonly kept?: KeptSession | undefined;
  /** What the last opened session received: MCP servers, why others were omitted, instructions. */
  given?: {
    readonly servers: readonly McpServer[];
    readonly problems: readonly LocalizableText[];
    readonly systemPrompt: readonly Instructions[];
    /** Our own server; `listed` is the number of its tools once the agent has requested them. */
    readonly tools?: { readonly program: McpServer; readonly listed?: number | undefined } | undefined;
  };
  /** MCP servers that the agent couldn't use, by its names for them. */
  mcpReports?: Map<string, McpReport & { readonly at: number }>;
  /** The signed-in account, as last reported by the agent. */
  authStatus?: AuthStatus | undefined;
  /** Fires once; not after `dispose()`. */
  readonly onDidEnd: Event<ParleyError>;
  readonly isAlive: boolean;
  throwIfEnded(): void;
  /** Runs a request. If the agent ends, rejects with the reason, not just a closed connection. */
  until<T>(run: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T>;
  describe(error: unknown, step: string): Promise<ParleyError>;
  close(): Promise<void>;
}

export interface OpenedSession {
  readonly link: AgentLink;
  readonly sessionId: string;
}
