// The same server for agents that reach it over their ACP connection (`mcp/message`, protocol v1 and
// v2 unstable): one request of the agent is one request of MCP.

import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { connectTools } from './mcpServer';
import type { ToolCaller } from './toolCaller';

/** What a request came to, as `mcp/message` is answered. */
export type McpOutcome =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };

/** Messages in memory: requests go in, each answer comes out to the one that asked. */
class MemoryTransport implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>;
  readonly #asked = new Map<number, (outcome: McpOutcome) => void>();
  #last = 0;

  async start(): Promise<void> {}

  async close(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (!('id' in message) || 'method' in message) return;
    const answer = this.#asked.get(Number(message.id));
    this.#asked.delete(Number(message.id));
    answer?.('error' in message ? { error: message.error } : { result: message.result });
  }

  request(method: string, params: Record<string, unknown> | undefined, signal: AbortSignal): Promise<McpOutcome> {
    const id = ++this.#last;
    return new Promise((resolve) => {
      const cancel = (): void => {
        this.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
        // The server answers nothing that was cancelled.
        this.#asked.delete(id);
        resolve({ error: { code: -32_800, message: 'Cancelled' } });
      };
      signal.addEventListener('abort', cancel, { once: true });
      this.#asked.set(id, (outcome) => {
        signal.removeEventListener('abort', cancel);
        resolve(outcome);
      });
      this.onmessage?.({ jsonrpc: '2.0', id, method, ...(params && { params }) });
    });
  }
}

/** Returns what answers the requests of one agent. */
export async function acpServer(caller: ToolCaller): Promise<MemoryTransport['request']> {
  const transport = new MemoryTransport();
  await connectTools(caller, transport);
  return (method, params, signal) => transport.request(method, params, signal);
}
