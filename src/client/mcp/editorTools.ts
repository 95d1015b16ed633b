// The tools of the editor as a session gets them: what the session lets them do, and what is handed
// to its agent.

import type { McpServer, PermissionAsk } from '../../acp/protocol/dialect';
import type { AgentDefinition } from '../../agents/agentDefinition';
import type { Disposable } from '../../base/disposable';
import type { SessionEvent } from '../../session/events/event';

export interface ToolSession {
  readonly key: string;
  /** Absolute; nothing outside is read or changed. */
  readonly roots: readonly string[];
  readonly isAtWork: () => boolean;
  /** @returns the id of the chosen option, if any */
  readonly ask: (question: PermissionAsk, signal: AbortSignal) => Promise<string | undefined>;
  readonly apply: (event: SessionEvent) => void;
  /** Recently changed files; absolute paths. */
  readonly changed: () => readonly string[];
  /** Resolves when a file (absolute path) may be written, or something run. Never rejects. */
  readonly beforeWrite: (path?: string) => Promise<void>;
}

export interface ToolGrant extends Disposable {
  /** How many tools the agent has listed; undefined: it hasn't connected. */
  readonly listed?: number | undefined;
  readonly program: McpServer & { readonly type: 'stdio' };
  readonly overAcp: McpServer & { readonly type: 'acp' };
  /**
   * Answers `mcp/message`.
   * @throws RpcError -32602, -32002 for another server
   */
  message(params: unknown, signal: AbortSignal): Promise<unknown>;
}

export interface EditorTools {
  /** Undefined if the agent gets none. */
  grant(agent: AgentDefinition, session: ToolSession): Promise<ToolGrant | undefined>;
}
