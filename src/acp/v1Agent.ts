// The v1 dialect: what a client says to an agent and how its answers read, checked and typed. Stable and unstable methods alike: each by its capability. One instance
// per connection.
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
import type { RpcCaller } from './rpcCaller';
import { RpcError, rpcCodes } from './rpcError';
import { readStopReason } from './turnComplete';
import { toConfigOptions, toModes, toToolPatch } from './v1Events';
import {
  newSessionResultSchema,
  openSessionResultSchema,
  permissionRequestSchema,
  promptResultSchema,
  sessionInfoSchema,
} from './v1Schema';
import { applyUpdates } from './v1Updates';

/** Sessions of one page that are read; a list is for people. */
const MAX_PAGE = 1000;
const MAX_OPTIONS = 50;

export class V1Agent implements Dialect {
  readonly protocol = 1;
  readonly #rpc: RpcCaller;

  constructor(rpc: RpcCaller) {
    this.#rpc = rpc;
  }

  /** `authenticate` (section 1.9), for methods that the agent carries out itself. */
  async login(methodId: string, signal: AbortSignal): Promise<void> {
    await this.#rpc.request('authenticate', { methodId }, { signal });
  }

  async logout(signal: AbortSignal): Promise<void> {
    await this.#rpc.request('logout', {}, { signal });
  }

  /** `session/new`. @throws ParleyError `protocol-violation`; RpcError, -32000 where the user must sign in first. */
  newSession(place: SessionPlace, signal: AbortSignal): Promise<SessionOffer> {
    return this.#begin('session/new', placeToWire(place), signal);
  }

  async load(sessionId: string, place: SessionPlace, signal: AbortSignal): Promise<SessionOffer> {
    return this.#reopen('session/load', sessionId, place, signal);
  }

  async resume(sessionId: string, place: SessionPlace, _replay: boolean, signal: AbortSignal): Promise<SessionOffer> {
    return this.#reopen('session/resume', sessionId, place, signal);
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
    const raw = await this.#rpc.request(
      'session/list',
      {
        ...(cwd !== undefined && { cwd }),
        ...(cursor !== undefined && { cursor }),
        ...(archived !== undefined && { archived: archived ? 'only' : 'exclude' }),
      },
      { signal },
    );
    return readSessionPage(raw);
  }

  async close(sessionId: string, signal: AbortSignal): Promise<void> {
    await this.#rpc.request('session/close', { sessionId }, { signal });
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

  /** `session/prompt`: resolves when the agent answers, which in v1 is the end of the turn. */
  async prompt(
    sessionId: string,
    prompt: readonly ContentBlock[],
    onSent: (requestId: string) => void,
  ): Promise<PromptAnswer> {
    const raw = await this.#rpc.request(
      'session/prompt',
      { sessionId, prompt: prompt.map(blockToWire) },
      { onSent: (id) => onSent(String(id)) },
    );
    const parsed = promptResultSchema.safeParse(raw);
    if (!parsed.success || !parsed.data) return { ends: true };
    const { stopReason, usage, messageId } = parsed.data;
    const reason = readStopReason(stopReason);
    return {
      ends: true,
      ...(reason && { stopReason: reason }),
      ...(usage && { tokens: usage.totalTokens }),
      ...(messageId && { messageId }),
    };
  }

  /** `session/cancel`, a notification: the turn still ends by the answer to its prompt. */
  cancel(sessionId: string): Promise<void> {
    return this.#rpc.notify('session/cancel', { sessionId });
  }

  /** v1 has no such method. @throws RpcError -32601 */
  cancelTool(_sessionId: string, _toolCallId: string): Promise<void> {
    return Promise.reject(new RpcError(rpcCodes.methodNotFound, 'This agent cannot stop a single tool call'));
  }

  /** v1 has no such method. @throws RpcError -32601 */
  cancelTerminal(_sessionId: string, _terminalId: string): Promise<void> {
    return Promise.reject(new RpcError(rpcCodes.methodNotFound, 'This agent cannot stop a single terminal'));
  }

  async setMode(sessionId: string, modeId: string): Promise<void> {
    await this.#rpc.request('session/set_mode', { sessionId, modeId });
  }

  async setConfigOption(
    sessionId: string,
    configId: string,
    value: string | boolean,
  ): Promise<readonly ConfigOption[] | undefined> {
    const params =
      typeof value === 'boolean' ? { sessionId, configId, type: 'boolean', value } : { sessionId, configId, value };
    const options = at(await this.#rpc.request('session/set_config_option', params), 'configOptions');
    return Array.isArray(options) ? toConfigOptions(options) : undefined;
  }

  readUpdates(updates: readonly unknown[], targets: UpdateTargets): void {
    applyUpdates(updates, targets);
  }

  /** Section 1.6. The question may be the first that is heard of the call, and the only thing that describes it. */
  readPermission(params: unknown): PermissionAsk {
    const parsed = permissionRequestSchema.safeParse(params);
    if (!parsed.success) {
      const why = parsed.error.issues[0]?.message ?? 'invalid';
      throw new RpcError(rpcCodes.invalidParams, `session/request_permission: ${why}`);
    }
    const { toolCall, options } = parsed.data;
    const patch = toToolPatch(toolCall);
    return {
      toolCallId: toolCall.toolCallId,
      patch,
      title: patch.title ?? 'The agent asks for permission',
      options: options
        .slice(0, MAX_OPTIONS)
        .map(({ optionId, name, kind }) => ({ optionId, name: name ?? optionId, kind: kind ?? '' })),
    };
  }

  async #begin(method: string, params: unknown, signal: AbortSignal): Promise<SessionOffer> {
    const raw = await this.#rpc.request(method, params, { signal });
    const parsed = newSessionResultSchema.safeParse(raw);
    if (!parsed.success) {
      throw new ParleyError('protocol-violation', `its answer to ${method} has no session id`, { cause: parsed.error });
    }
    return toOffer(parsed.data.sessionId, parsed.data);
  }

  /** Some agents answer null: the session is open, and nothing is said of it (section 5.7). */
  async #reopen(method: string, sessionId: string, place: SessionPlace, signal: AbortSignal): Promise<SessionOffer> {
    const raw = await this.#rpc.request(method, { sessionId, ...placeToWire(place) }, { signal });
    const parsed = openSessionResultSchema.safeParse(raw);
    return toOffer(sessionId, parsed.success && parsed.data ? parsed.data : {});
  }
}

/** Where an agent has config options, they are the whole truth, and its modes are for older clients (section 1.12). */
function toOffer(sessionId: string, said: { modes?: unknown; configOptions?: unknown }): SessionOffer {
  const config = toConfigOptions(said.configOptions);
  const modes = config.length > 0 ? undefined : toModes(said.modes);
  return { sessionId, ...(config.length > 0 && { config }), ...(modes && { modes }) };
}

/** Reads the answer to `session/list`: entries that do not fit are left out, one bad entry must not hide the others. */
export function readSessionPage(raw: unknown): SessionPage {
  const entries = at(raw, 'sessions');
  const nextCursor = at(raw, 'nextCursor');
  const sessions = (Array.isArray(entries) ? entries.slice(0, MAX_PAGE) : []).flatMap((entry) => {
    const parsed = sessionInfoSchema.safeParse(entry);
    if (!parsed.success) return [];
    const { sessionId, cwd, additionalDirectories, title, updatedAt, archived } = parsed.data;
    return [
      {
        sessionId,
        cwd: cwd ?? '',
        additionalDirectories: additionalDirectories ?? [],
        ...(title && { title }),
        ...(updatedAt && { updatedAt }),
        ...(archived && { archived: true as const }),
      },
    ];
  });
  return { sessions, ...(typeof nextCursor === 'string' && { nextCursor }) };
}

/** `mcpServers` is required even where it is empty; additional directories only where the agent knows them, which the caller has seen to. */
export function placeToWire({ cwd, additionalDirectories, mcpServers }: SessionPlace): Record<string, unknown> {
  return {
    cwd,
    mcpServers: mcpServers.map(mcpToWire),
    ...(additionalDirectories.length > 0 && { additionalDirectories }),
  };
}

function mcpToWire(server: McpServer): unknown {
  const pairs = (record: Readonly<Record<string, string>>) =>
    Object.entries(record).map(([name, value]) => ({ name, value }));
  if (server.type === 'stdio') {
    const { name, command, args, env } = server;
    return { name, command, args, env: pairs(env) };
  }
  const { type, name, url, headers } = server;
  return { type, name, url, headers: pairs(headers) };
}

/** Content as it goes out (section 1.4). */
export function blockToWire(block: ContentBlock): unknown {
  if (block.type === 'resource') {
    const { uri, text, blob, mimeType } = block;
    return {
      type: 'resource',
      resource: {
        uri,
        ...(text !== undefined && { text }),
        ...(blob !== undefined && { blob }),
        ...(mimeType && { mimeType }),
      },
    };
  }
  return block.type === 'unknown' ? block.raw : block;
}
