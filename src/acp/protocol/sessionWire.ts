// Converts the parts of session requests and answers that both protocol versions share.
import type * as z from 'zod/mini';
import { at } from '../../base/untrusted';
import type { ContentBlock, PermissionOption, TokenParts, TurnTokens } from '../../session/events/content';
import { RPC_CODES, RpcError } from '../jsonrpc/rpcError';
import type { McpServer, SessionPage, SessionSetup } from './dialect';
import { type permissionOptionsSchema, sessionInfoSchema } from './sharedSchema';

const MAX_PAGE = 1000;
const MAX_OPTIONS = 50;

/** Invalid entries are dropped one by one. */
export function readSessionPage(raw: unknown): SessionPage {
  const entries = at(raw, 'sessions');
  const nextCursor = at(raw, 'nextCursor');
  const sessions = (Array.isArray(entries) ? entries.slice(0, MAX_PAGE) : []).flatMap((entry) => {
    const parsed = sessionInfoSchema.safeParse(entry);
    return parsed.success ? [parsed.data] : [];
  });
  return { sessions, nextCursor: typeof nextCursor === 'string' ? nextCursor : undefined };
}

export type StdioMark = { readonly type?: 'stdio' };

/** `mcpServers` is required; everything else must be omitted if empty or not advertised. */
export function setupToWire(
  { cwd, additionalDirectories, mcpServers, systemPrompt = [] }: SessionSetup,
  stdio: StdioMark,
): Record<string, unknown> {
  return {
    cwd,
    mcpServers: mcpServers.map((server) => mcpToWire(server, stdio)),
    additionalDirectories: additionalDirectories.length > 0 ? additionalDirectories : undefined,
    systemPrompt:
      systemPrompt.length > 0
        ? { mode: 'append', content: systemPrompt.map((text) => ({ type: 'text', text })) }
        : undefined,
  };
}

function mcpToWire(server: McpServer, stdio: StdioMark): unknown {
  const pairs = (record: Readonly<Record<string, string>>) =>
    Object.entries(record).map(([name, value]) => ({ name, value }));
  if (server.type === 'stdio') {
    const { name, command, args, env } = server;
    return { ...stdio, name, command, args, env: pairs(env) };
  }
  if (server.type === 'acp') return { type: 'acp', name: server.name, serverId: server.serverId };
  const { type, name, url, headers } = server;
  return { type, name, url, headers: pairs(headers) };
}

export function blockToWire(block: ContentBlock): unknown {
  if (block.type === 'resource') {
    const { uri, text, blob, mimeType } = block;
    return { type: 'resource', resource: { uri, text, blob, mimeType: mimeType || undefined } };
  }
  return block.type === 'unknown' ? block.raw : block;
}

/** @throws RpcError -32602 */
export function readPermissionRequest<T>(schema: z.ZodMiniType<T>, params: unknown): T {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const why = parsed.error.issues[0]?.message ?? 'invalid';
  throw new RpcError(RPC_CODES.invalidParams, `session/request_permission: ${why}`);
}

export function toPermissionOptions(options: z.infer<typeof permissionOptionsSchema>): readonly PermissionOption[] {
  return options
    .slice(0, MAX_OPTIONS)
    .map(({ optionId, name, kind }) => ({ optionId, name: name ?? optionId, kind: kind ?? '' }));
}

/** @throws RpcError -32602 that names the invalid field */
export function readParams<T extends z.ZodMiniType>(schema: T, params: unknown, method: string): z.output<T> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join('.');
  throw new RpcError(
    RPC_CODES.invalidParams,
    `${method}: ${field ? `${field}: ` : ''}${issue?.message ?? 'bad params'}`,
  );
}

const TOKEN_FIELDS = [
  ['input', 'inputTokens'],
  ['output', 'outputTokens'],
  ['cachedRead', 'cachedReadTokens'],
  ['cachedWrite', 'cachedWriteTokens'],
  ['thought', 'thoughtTokens'],
] as const;

export function readTokens(usage: unknown): TurnTokens {
  const tokens = countAt(usage, 'totalTokens');
  if (tokens === undefined) return {};
  const tokenParts: { -readonly [K in keyof TokenParts]: TokenParts[K] } = {};
  for (const [part, field] of TOKEN_FIELDS) {
    const count = countAt(usage, field);
    if (count !== undefined) tokenParts[part] = count;
  }
  return { tokens, tokenParts: Object.keys(tokenParts).length > 0 ? tokenParts : undefined };
}

function countAt(usage: unknown, field: string): number | undefined {
  const count = at(usage, field);
  return typeof count === 'number' && count >= 0 ? count : undefined;
}
