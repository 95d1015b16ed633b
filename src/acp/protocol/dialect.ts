// The interface of an agent in any version of the protocol. The v1 and v2 adapters implement it,
// and the layers above depend only on this.
import type { Log } from '../../base/log';
import type {
  AvailableCommand,
  ConfigOption,
  ContentBlock,
  PermissionOption,
  SessionMode,
  TurnTokens,
} from '../../session/events/content';
import type { SessionEvent, StopReason, ToolPatch } from '../../session/events/event';
import { RPC_CODES, RpcError } from '../jsonrpc/rpcError';
import type { AuthStatus } from './authStatus';

/** The Agent Client Protocol, or the Agent Communication Protocol over HTTP. */
export type Protocol = 1 | 2 | 'communication';

export type Feature = Readonly<Record<string, unknown>>;

export interface PromptCapabilities {
  readonly image: boolean;
  readonly audio: boolean;
  readonly embeddedContext: boolean;
}

/** Absent features must not be used. */
export interface AgentFeatures {
  readonly prompt: PromptCapabilities;
  readonly load?: Feature;
  readonly resume?: Feature & { readonly replay?: Feature };
  readonly list?: Feature;
  readonly fork?: Feature;
  readonly close?: Feature;
  readonly delete?: Feature;
  readonly title?: Feature;
  readonly archive?: Feature;
  readonly additionalDirectories?: Feature;
  readonly systemPrompt?: Feature;
  /** Lists the options of a session before it exists, and takes their values when it opens. */
  readonly options?: Feature;
  readonly logout?: Feature;
  readonly authStatus?: Feature;
  readonly status?: Feature;
  readonly ready?: Feature;
  readonly turnComplete?: Feature;
  readonly queue?: Feature;
  readonly steering?: Feature;
  /** State reports start and end turns (promptLifecycle.ts). */
  readonly states?: Feature;
  readonly cancelTool?: Feature;
  /** The client owns the session, so it survives a restart, even with another agent. */
  readonly carried?: Feature;
  readonly mcpHttp?: Feature;
  readonly mcpSse?: Feature;
  readonly mcpAcp?: Feature;
}

export type KeyForm = 'text' | 'object';

export type AuthMethod = { readonly id: string; readonly name: string; readonly description?: string } & (
  | {
      readonly type: 'agent';
      readonly keyForm?: KeyForm;
    }
  | {
      /**
       * Runs the agent's own command in a terminal, with `args` appended. Success is exit code 0.
       */
      readonly type: 'terminal';
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly command?: string;
    }
  | {
      readonly type: 'env_var';
      readonly variables: readonly string[];
      /** The agent mentions the variable only in its text. */
      readonly isMentioned?: true;
    }
  | { /** A kind that is not known here: shown, never started. */ readonly type: 'other' }
);

export interface AgentDescription {
  readonly protocol: Protocol;
  readonly name?: string;
  readonly title?: string;
  readonly version?: string;
  readonly features: AgentFeatures;
  readonly authMethods: readonly AuthMethod[];
  readonly raw: unknown;
}

export type McpServer = { readonly name: string } & (
  | {
      readonly type: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly type: 'http' | 'sse'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly type: 'acp'; readonly serverId: string }
);

/** Paths are absolute. */
export interface SessionSetup {
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly mcpServers: readonly McpServer[];
  /** Texts appended to the agent's own instructions. */
  readonly systemPrompt?: readonly string[];
  /** The agent ignores unknown options. */
  readonly options?: readonly { readonly id: string; readonly value: string | boolean }[];
}

export interface SessionOffer {
  readonly sessionId: string;
  readonly modes?: { readonly current: string; readonly modes: readonly SessionMode[] };
  readonly config?: readonly ConfigOption[];
  readonly commands?: readonly AvailableCommand[];
}

/** `updatedAt` is the agent's text, usually ISO 8601. */
export interface SessionInfo {
  readonly sessionId: string;
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly title?: string;
  readonly updatedAt?: string;
  readonly archived?: true;
}

export interface SessionPage {
  readonly sessions: readonly SessionInfo[];
  /** Absent on the last page. An empty string is a valid cursor. */
  readonly nextCursor?: string;
}

/** The end of the turn if `ends`, otherwise a receipt with the id of the message, if given. */
export interface PromptAnswer extends TurnTokens {
  readonly ends: boolean;
  readonly stopReason?: StopReason;
  readonly messageId?: string;
  readonly note?: string;
}

export interface BackgroundWork {
  readonly type: string;
  readonly id: string;
}

/** A state reported by the agent (v2 `state_update`, or the proposal's `state_change`). */
export interface StateReport extends TurnTokens {
  /** `running`, `idle`, `requires_action`; other words count as busy. */
  readonly state: string;
  readonly stopReason?: StopReason;
  readonly error?: { readonly code: string; readonly message: string };
  readonly background?: readonly BackgroundWork[];
}

export interface PermissionAsk {
  readonly toolCallId?: string;
  readonly patch?: ToolPatch;
  readonly title: string;
  readonly description?: string;
  readonly command?: { readonly line: string; readonly cwd?: string };
  readonly options: readonly PermissionOption[];
}

export interface TurnComplete {
  readonly promptRequestId: string | undefined;
  readonly stopReason: StopReason | undefined;
}

export interface UpdateTargets {
  readonly emit: (event: SessionEvent) => void;
  readonly onTurnComplete: (barrier: TurnComplete) => void;
  readonly onState: (report: StateReport) => void;
  readonly log: Log;
}

/** Sections 1.2, 1.9. */
export interface AgentAuth {
  /** Reads the sign-in methods in the data of error -32000. Never throws. */
  methodsIn(data: unknown): readonly AuthMethod[];
  login(methodId: string, signal: AbortSignal, meta?: Readonly<Record<string, unknown>>): Promise<void>;
  logout(signal: AbortSignal): Promise<void>;
  /** `auth/status` (unstable). */
  status(signal: AbortSignal): Promise<AuthStatus>;
}

export interface StoredSessions {
  /** `session/options` (unstable). `sessionId` is the session to fork, if any. */
  options(setup: SessionSetup, sessionId: string | undefined, signal: AbortSignal): Promise<SessionOffer>;
  load(sessionId: string, setup: SessionSetup, signal: AbortSignal): Promise<SessionOffer>;
  fork(
    sessionId: string,
    setup: SessionSetup,
    signal: AbortSignal,
    meta?: Readonly<Record<string, unknown>>,
  ): Promise<SessionOffer>;
  list(
    query: { readonly cwd?: string; readonly cursor?: string; readonly archived?: boolean },
    signal: AbortSignal,
  ): Promise<SessionPage>;
  close(sessionId: string, signal: AbortSignal): Promise<void>;
  delete(sessionId: string, signal: AbortSignal): Promise<void>;
  setTitle(sessionId: string, title: string, signal: AbortSignal): Promise<string>;
  archive(sessionId: string, archived: boolean, signal: AbortSignal): Promise<void>;
}

export interface SessionControls {
  cancelTool(sessionId: string, toolCallId: string): Promise<void>;
  cancelTerminal(sessionId: string, terminalId: string): Promise<void>;
  setMode(sessionId: string, modeId: string): Promise<void>;
  setConfigOption(sessionId: string, id: string, value: string | boolean): Promise<readonly ConfigOption[] | undefined>;
  /** Reads the params of `session/request_permission`. Throws RpcError -32602. */
  readPermission(params: unknown): PermissionAsk;
}

/**
 * Parts without a counterpart in the protocol are absent; methods of absent features must not be
 * called. Refusals of the agent are thrown as RpcError.
 */
export interface Dialect {
  readonly protocol: Protocol;
  readonly auth?: AgentAuth;
  readonly sessions?: StoredSessions;
  readonly controls?: SessionControls;
  newSession(setup: SessionSetup, signal: AbortSignal): Promise<SessionOffer>;
  resume(sessionId: string, setup: SessionSetup, replay: boolean, signal: AbortSignal): Promise<SessionOffer>;
  /**
   * @param onSent gets the request id as text, before any answer to it can arrive
   * @param signal withdraws the prompt if the agent has not started it; the answer is still awaited
   * @param key the same for all attempts to send a message (v2 `idempotencyKey`)
   */
  prompt(
    sessionId: string,
    prompt: readonly ContentBlock[],
    onSent: (requestId: string) => void,
    signal: AbortSignal,
    key?: string,
  ): Promise<PromptAnswer>;
  /**
   * Reads the answer to a prompt of an earlier connection, if requests can outlive one. Never
   * throws.
   */
  readAnswer?(raw: unknown): PromptAnswer;
  /** Like `readAnswer`, for a request that opened a session. */
  readOffer?(sessionId: string, raw: unknown): SessionOffer;
  /** Requests a stop; the turn still ends when the agent says so. */
  cancel(sessionId: string): Promise<void>;
  /** Whether the last turn ended with a question that the next prompt answers. */
  isAsking?(sessionId: string): boolean;
  /** Reads `session/update` notifications in order. Never throws. */
  readUpdates(updates: readonly unknown[], targets: UpdateTargets): void;
}

/** @throws RpcError -32601 if the protocol has no such part */
export function required<T>(part: T | undefined): T {
  if (part === undefined) throw new RpcError(RPC_CODES.methodNotFound, 'The protocol of this agent has no such method');
  return part;
}

export function takes(capabilities: PromptCapabilities, block: ContentBlock): boolean {
  switch (block.type) {
    case 'text':
    case 'resource_link':
      return true;
    case 'image':
      return capabilities.image;
    case 'audio':
      return capabilities.audio;
    case 'resource':
      return capabilities.embeddedContext;
    case 'unknown':
      return false;
  }
}
