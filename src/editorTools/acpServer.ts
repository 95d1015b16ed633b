// The MCP server of one session, for agents that reach it over ACP (`mcp/message`, also v2
// unstable).

import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, isJSONRPCRequest, type RequestId } from '@modelcontextprotocol/sdk/types.js';
import { serveTools } from './mcpServer';
import type { ToolCaller } from './toolCaller';

export type McpOutcome =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };

/** Resolves immediately when `signal` aborts. */
export type McpRequest = (
  method: string,
  params: Record<string, unknown> | undefined,
  signal: AbortSignal,
) => Promise<McpOutcome>;

const CANCELLED: McpOutcome = { error: { code: -32_800, message: 'Cancelled' } };

export async function acpServer(caller: ToolCaller): Promise<McpRequest> {
  const pending = new Map<RequestId | undefined, (outcome: McpOutcome) => void>();
  const transport: Transport = {
    start: async () => undefined,
    close: async () => undefined,
    send: async (message) => {
      if ('result' in message) pending.get(message.id)?.({ result: message.result });
      else if ('error' in message) pending.get(message.id)?.({ error: message.error });
    },
  };
  await serveTools(caller, transport);
  let lastId = 0;
  return (method, params, signal) => {
    // The SDK does not cancel a request with id 0.
    const id = ++lastId;
    const request = { jsonrpc: '2.0', id, method, params } as const;
    // The SDK would not answer it.
    if (!isJSONRPCRequest(request))
      return Promise.resolve({ error: { code: ErrorCode.InvalidParams, message: `Invalid params of ${method}` } });
    if (signal.aborted) return Promise.resolve(CANCELLED);
    const { promise, resolve } = Promise.withResolvers<McpOutcome>();
    const settle = (outcome: McpOutcome): void => {
      pending.delete(id);
      signal.removeEventListener('abort', cancel);
      resolve(outcome);
    };
    const cancel = (): void => {
      settle(CANCELLED);
      transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
    };
    pending.set(id, settle);
    signal.addEventListener('abort', cancel, { once: true });
    transport.onmessage?.(request);
    return promise;
  };
}
