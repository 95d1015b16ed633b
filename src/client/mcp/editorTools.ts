// The editor's tools as a session gets them: what it allows them, and what its agent receives.

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
  /** Absolute paths of recently changed files. */
  readonly changed: () => readonly string[];
  /** Resolves when a file (absolute path) may be written, or a command run. Never rejects. */
  readonly beforeWrite: (path?: string) => Promise<void>;
}

export interface ToolGrant extends Disposable {
  /** Absent: the agent hasn't connected. */
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
  grant(agent: AgentDefinition, session: ToolSession): Promise<ToolGrant | undefined>;
}
