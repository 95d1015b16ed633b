// The tools of the editor as a session gets them: what the session lets them do, and what is handed
// to its agent.

import type { McpServer, PermissionAsk } from '../../acp/protocol/dialect';
import type { AgentDefinition } from '../../agents/agentDefinition';
import type { Disposable } from '../../base/disposable';
import type { SessionEvent } from '../../session/events/event';

/** A session, as the tools see it. */
export interface ToolSession {
  /** Ours, unique. */
  readonly key: string;
  /** Nothing outside of these folders is told or changed; absolute. */
  readonly roots: readonly string[];
  /** Returns whether the agent works on a message, which the user has not stopped. */
  readonly isAtWork: () => boolean;
  /** Asks the user as for the agent's own tools. @returns the id of the chosen option, if any */
  readonly ask: (question: PermissionAsk, signal: AbortSignal) => Promise<string | undefined>;
  /** Tells what became of a tool call that {@link ask} has shown. */
  readonly apply: (event: SessionEvent) => void;
  /** Returns the files that the agent has changed lately; absolute paths. */
  readonly changed: () => readonly string[];
  /** Resolves when a file (absolute path) may be written, or something run. Never rejects. */
  readonly beforeWrite: (path?: string) => Promise<void>;
}

/** The tools of one session, until it is disposed. */
export interface ToolGrant extends Disposable {
  /** For agents on this machine. */
  readonly program: McpServer & { readonly type: 'stdio' };
  /** For agents that reach MCP servers over their own connection. */
  readonly overAcp: McpServer & { readonly type: 'acp' };
  /**
   * Answers `mcp/message` of {@link overAcp}.
   * @throws RpcError -32602, -32002 for another server
   */
  message(params: unknown, signal: AbortSignal): Promise<unknown>;
}

export interface EditorTools {
  /**
   * Returns the tools for an agent; undefined where it is to have none.
   * @param session the one that the agent works in
   */
  grant(agent: AgentDefinition, session: ToolSession): Promise<ToolGrant | undefined>;
}
