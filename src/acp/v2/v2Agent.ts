// The v2 dialect (Preview): requests and answers specific to v2, validated (the others are in
// rpcAgent.ts). Stable and unstable methods, each by its capability.

import { at } from '../../base/untrusted';
import type { ConfigOption } from '../../session/events/content';
import { RPC_CODES, RpcError } from '../jsonrpc/rpcError';
import { readReceipt } from '../proposals/promptLifecycle';
import { announcesSteering } from '../proposals/steering';
import type {
  AgentDescription,
  AgentFeatures,
  AuthMethod,
  Feature,
  PermissionAsk,
  PromptAnswer,
  SessionOffer,
  SessionSetup,
  UpdateTargets,
} from '../protocol/dialect';
import { RpcAgent, rejectMissing } from '../protocol/rpcAgent';
import { readPermissionRequest, toPermissionOptions } from '../protocol/sessionWire';
import { describe, proposalsOf, readAuthMethods, toFeature, withoutAbsent } from '../v1/v1Description';
import {
  applyUpdates,
  commandSubjectSchema,
  permissionRequestSchema,
  readToolCall,
  toCommands,
  toOptions,
  V2Terminals,
} from './v2Events';

export class V2Agent extends RpcAgent {
  readonly protocol = 2;
  protected readonly stdio = { type: 'stdio' } as const;
  readonly #terminals = new V2Terminals();

  async login(methodId: string, signal: AbortSignal, meta?: Readonly<Record<string, unknown>>): Promise<void> {
    await this.rpc.request('auth/login', { methodId, _meta: meta }, { signal });
  }

  methodsIn(data: unknown): readonly AuthMethod[] {
    return readAuthMethods(at(data, 'authMethods'));
  }

  async logout(signal: AbortSignal): Promise<void> {
    await this.rpc.request('auth/logout', {}, { signal });
  }

  /** Not in v2, which resumes instead. Throws RpcError -32601. */
  load(_sessionId: string, _setup: SessionSetup, _signal: AbortSignal): Promise<SessionOffer> {
    return rejectMissing('Protocol version 2 has no session/load');
  }

  /** `session/resume` (section 3.5). A replay arrives as updates before the answer. */
  resume(sessionId: string, setup: SessionSetup, replay: boolean, signal: AbortSignal): Promise<SessionOffer> {
    const more = replay ? { replayFrom: { type: 'start' } } : {};
    return this.reopen('session/resume', sessionId, setup, more, signal);
  }

  /** An unknown session counts as closed (section 3.6). */
  override async close(sessionId: string, signal: AbortSignal): Promise<void> {
    try {
      await super.close(sessionId, signal);
    } catch (error) {
      if (!(error instanceof RpcError && error.code === RPC_CODES.resourceNotFound)) throw error;
    }
  }

  async cancelTool(sessionId: string, toolCallId: string): Promise<void> {
    await this.rpc.request('tool_call/cancel', { sessionId, toolCallId });
  }

  async cancelTerminal(sessionId: string, terminalId: string): Promise<void> {
    await this.rpc.request('terminal/cancel', { sessionId, terminalId });
  }

  /** Not in v2, where modes are config options. Throws RpcError -32601. */
  setMode(_sessionId: string, _modeId: string): Promise<void> {
    return rejectMissing('Protocol version 2 has no session/set_mode');
  }

  readUpdates(updates: readonly unknown[], targets: UpdateTargets): void {
    applyUpdates(updates, this.#terminals, targets);
  }

  /** Section 3.7. */
  readPermission(params: unknown): PermissionAsk {
    const { title, description, subject, options } = readPermissionRequest(permissionRequestSchema, params);
    return { title, description, ...readSubject(subject), options: toPermissionOptions(options) };
  }

  /** In v2, states end the turn (promptLifecycle.ts). */
  readAnswer(raw: unknown): PromptAnswer {
    return readReceipt(raw);
  }

  readOffer(sessionId: string, raw: unknown): SessionOffer {
    const config = toOptions(at(raw, 'configOptions'));
    const commands = at(raw, 'availableCommands');
    return {
      sessionId,
      config: config.length > 0 ? config : undefined,
      commands: Array.isArray(commands) ? toCommands(commands) : undefined,
    };
  }

  protected readOptions(options: readonly unknown[]): readonly ConfigOption[] {
    return toOptions(options);
  }

  protected typeField(value: string | boolean): { readonly type?: string } {
    return { type: typeof value === 'boolean' ? 'boolean' : 'id' };
  }
}

function readSubject(subject: { readonly type: string } | null | undefined): Partial<PermissionAsk> {
  if (subject?.type === 'tool_call') return readToolCall(at(subject, 'toolCall')) ?? {};
  const parsed = subject?.type === 'command' ? commandSubjectSchema.safeParse(subject) : undefined;
  if (!parsed?.success) return {};
  const { command, cwd, toolCallId } = parsed.data;
  return { command: { line: command, cwd }, toolCallId };
}

export function describeV2(raw: unknown): AgentDescription | undefined {
  return describe(2, raw, featuresOf);
}

/** Agents with sessions can list, resume and close; agents with sign-in methods can sign out. */
function featuresOf(raw: unknown): AgentFeatures {
  const session = (...path: string[]): Feature | undefined => toFeature(at(raw, 'capabilities', 'session', ...path));
  const prompt = (kind: string): boolean => session('prompt', kind) !== undefined;
  const baseline = session() && {};
  const authMethods = at(raw, 'authMethods');
  return withoutAbsent({
    prompt: { image: prompt('image'), audio: prompt('audio'), embeddedContext: prompt('embeddedContext') },
    resume: baseline && { replay: {} },
    list: baseline,
    close: baseline,
    fork: session('fork'),
    delete: session('delete'),
    title: session('title'),
    archive: session('archive'),
    additionalDirectories: session('additionalDirectories'),
    systemPrompt: session('systemPrompt'),
    options: session('options'),
    logout: Array.isArray(authMethods) && authMethods.length > 0 ? {} : undefined,
    authStatus: toFeature(at(raw, 'capabilities', 'auth', 'status')),
    mcpHttp: session('mcp', 'http'),
    mcpAcp: session('mcp', 'acp'),
    // Messages in the agent's own queue can't be steered, so the client queues instead.
    queue: announcesSteering(raw) ? undefined : {},
    states: {},
    cancelTool: {},
    ...proposalsOf(raw),
  });
}
