// The v2 dialect (an experimental draft): what a client says to an agent and how its answers read, checked and typed. Stable and unstable methods alike: each by its
// capability. One instance per connection.
import { ParleyError } from '../base/errors';
import type { ConfigOption, ContentBlock } from '../session/content';
import { at } from './capabilities';
import type {
  Dialect,
  McpServer,
  PermissionAsk,
  PromptAnswer,
  SessionOffer,
  SessionPage,
  SessionPlace,
  UpdateTargets,
} from './dialect';
import { readReceipt } from './promptLifecycle';
import type { RpcCaller } from './rpcCaller';
import { RpcError, rpcCodes } from './rpcError';
import { blockToWire, readSessionPage } from './v1Agent';
import { readToolCall, toCommands, toOptions } from './v2Events';
import { commandSubjectSchema, permissionRequestSchema, sessionAnswerSchema } from './v2Schema';
import { V2Terminals } from './v2Terminals';
import { applyUpdates } from './v2Updates';

const MAX_OPTIONS = 50;

export class V2Agent implements Dialect {
  readonly protocol = 2;
  readonly #rpc: RpcCaller;
  readonly #terminals = new V2Terminals();

  constructor(rpc: RpcCaller) {
    this.#rpc = rpc;
  }

  /** `auth/login`, for methods that the agent carries out itself. */
  async login(methodId: string, signal: AbortSignal): Promise<void> {
    await this.#rpc.request('auth/login', { methodId }, { signal });
  }

  async logout(signal: AbortSignal): Promise<void> {
    await this.#rpc.request('auth/logout', {}, { signal });
  }

  /** `session/new`. @throws ParleyError `protocol-violation`; RpcError, -32000 where the user must sign in first. */
  newSession(place: SessionPlace, signal: AbortSignal): Promise<SessionOffer> {
    return this.#begin('session/new', placeToWire(place), signal);
  }

  /** v2 has no such method: a session is resumed. @throws RpcError -32601 */
  load(_sessionId: string, _place: SessionPlace, _signal: AbortSignal): Promise<SessionOffer> {
    return missing('session/load');
  }

  /** `session/resume` (section 3.5): with replay, everything that was said comes again as updates before the answer. */
  async resume(sessionId: string, place: SessionPlace, replay: boolean, signal: AbortSignal): Promise<SessionOffer> {
    const params = { sessionId, ...placeToWire(place), ...(replay && { replayFrom: { type: 'start' } }) };
    return toOffer(sessionId, await this.#rpc.request('session/resume', params, { signal }));
  }

  /** `session/fork` (unstable). @throws as {@link newSession} */
  fork(sessionId: string, place: SessionPlace, signal: AbortSignal): Promise<SessionOffer> {
    return this.#begin('session/fork', { sessionId, ...placeToWire(place) }, signal);
  }

  async list(
    query: { readonly cwd?: string; readonly cursor?: string; readonly archived?: boolean },
    signal: AbortSignal,
  ): Promise<SessionPage> {
    const { cwd, cursor, archived } = query;
    const params = {
      ...(cwd !== undefined && { cwd }),
      ...(cursor !== undefined && { cursor }),
      ...(archived !== undefined && { archived: archived ? 'only' : 'exclude' }),
    };
    return readSessionPage(await this.#rpc.request('session/list', params, { signal }));
  }

  /** A session that the agent does not know is as good as closed (section 3.6). */
  async close(sessionId: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#rpc.request('session/close', { sessionId }, { signal });
    } catch (error) {
      if (!(error instanceof RpcError && error.code === rpcCodes.resourceNotFound)) throw error;
    }
  }

  async delete(sessionId: string, signal: AbortSignal): Promise<void> {
    await this.#rpc.request('session/delete', { sessionId }, { signal });
  }

  async setTitle(sessionId: string, title: string, signal: AbortSignal): Promise<string> {
    const kept = at(await this.#rpc.request('session/set_title', { sessionId, title }, { signal }), 'title');
    return typeof kept === 'string' ? kept : title;
  }

  async archive(sessionId: string, archived: boolean, signal: AbortSignal): Promise<void> {
    await this.#rpc.request(archived ? 'session/archive' : 'session/unarchive', { sessionId }, { signal });
  }

  /** `session/prompt`: resolves when the agent has taken the prompt in (promptLifecycle.ts); the turn ends by its state. */
  async prompt(
    sessionId: string,
    prompt: readonly ContentBlock[],
    onSent: (requestId: string) => void,
  ): Promise<PromptAnswer> {
    const params = { sessionId, prompt: prompt.map(blockToWire) };
    return readReceipt(await this.#rpc.request('session/prompt', params, { onSent: (id) => onSent(String(id)) }));
  }

  /** `session/cancel`, a notification: it also takes back the prompts that were not taken in yet. */
  cancel(sessionId: string): Promise<void> {
    return this.#rpc.notify('session/cancel', { sessionId });
  }

  async cancelTool(sessionId: string, toolCallId: string): Promise<void> {
    await this.#rpc.request('tool_call/cancel', { sessionId, toolCallId });
  }

  async cancelTerminal(sessionId: string, terminalId: string): Promise<void> {
    await this.#rpc.request('terminal/cancel', { sessionId, terminalId });
  }

  /** v2 has no modes: they are config options. @throws RpcError -32601 */
  setMode(_sessionId: string, _modeId: string): Promise<void> {
    return missing('session/set_mode');
  }

  async setConfigOption(
    sessionId: string,
    configId: string,
    value: string | boolean,
  ): Promise<readonly ConfigOption[] | undefined> {
    const type = typeof value === 'boolean' ? 'boolean' : 'id';
    const answer = await this.#rpc.request('session/set_config_option', { sessionId, configId, type, value });
    const options = at(answer, 'configOptions');
    return Array.isArray(options) ? toOptions(options) : undefined;
  }

  readUpdates(updates: readonly unknown[], targets: UpdateTargets): void {
    applyUpdates(updates, this.#terminals, targets);
  }

  /** Section 3.7. The subject is a tool call, a command, or nothing that is known here: the question stands by its title. */
  readPermission(params: unknown): PermissionAsk {
    const parsed = permissionRequestSchema.safeParse(params);
    if (!parsed.success) {
      const why = parsed.error.issues[0]?.message ?? 'invalid';
      throw new RpcError(rpcCodes.invalidParams, `session/request_permission: ${why}`);
    }
    const { title, description, subject, options } = parsed.data;
    return {
      title,
      ...(description && { description }),
      ...readSubject(subject),
      options: options
        .slice(0, MAX_OPTIONS)
        .map(({ optionId, name, kind }) => ({ optionId, name: name ?? optionId, kind: kind ?? '' })),
    };
  }

  async #begin(method: string, params: unknown, signal: AbortSignal): Promise<SessionOffer> {
    const raw = await this.#rpc.request(method, params, { signal });
    const sessionId = at(raw, 'sessionId');
    if (typeof sessionId !== 'string') {
      throw new ParleyError('protocol-violation', `its answer to ${method} has no session id`);
    }
    return toOffer(sessionId, raw);
  }
}

function missing(method: string): Promise<never> {
  return Promise.reject(new RpcError(rpcCodes.methodNotFound, `Protocol version 2 has no ${method}`));
}

function readSubject(subject: { readonly type: string } | null | undefined): Partial<PermissionAsk> {
  if (subject?.type === 'tool_call') return readToolCall(at(subject, 'toolCall')) ?? {};
  const parsed = subject?.type === 'command' ? commandSubjectSchema.safeParse(subject) : undefined;
  if (!parsed?.success) return {};
  const { command, cwd, toolCallId } = parsed.data;
  return { command: { line: command, ...(cwd && { cwd }) }, ...(toolCallId && { toolCallId }) };
}

function toOffer(sessionId: string, raw: unknown): SessionOffer {
  const parsed = sessionAnswerSchema.safeParse(raw);
  const { configOptions, availableCommands } = parsed.success ? parsed.data : {};
  const config = toOptions(configOptions);
  return {
    sessionId,
    ...(config.length > 0 && { config }),
    ...(Array.isArray(availableCommands) && { commands: toCommands(availableCommands) }),
  };
}

function placeToWire({ cwd, additionalDirectories, mcpServers }: SessionPlace): Record<string, unknown> {
  return {
    cwd,
    mcpServers: mcpServers.map(mcpToWire),
    ...(additionalDirectories.length > 0 && { additionalDirectories }),
  };
}

/** In v2 every kind of server is named by its type. */
function mcpToWire(server: McpServer): unknown {
  const pairs = (record: Readonly<Record<string, string>>) =>
    Object.entries(record).map(([name, value]) => ({ name, value }));
  if (server.type === 'stdio') {
    const { type, name, command, args, env } = server;
    return { type, name, command, args, env: pairs(env) };
  }
  const { type, name, url, headers } = server;
  return { type, name, url, headers: pairs(headers) };
}
