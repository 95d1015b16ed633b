// The same server for agents that reach it over their ACP connection (`mcp/message`, protocol v1 and
// v2 unstable): one request of the agent is one request of MCP.

import { answerMcp, type McpOutcome } from './mcpMethods';
import type { ToolCaller } from './toolCaller';

const CANCELLED: McpOutcome = { error: { code: -32_800, message: 'Cancelled' } };

/** Answers one request; withdrawn by its signal, it is answered at once. */
export type McpRequest = (
  method: string,
  params: Record<string, unknown> | undefined,
  signal: AbortSignal,
) => Promise<McpOutcome>;

/** Returns what answers the requests of one agent. */
export function acpServer(caller: ToolCaller): McpRequest {
  return (method, params, signal) => {
    if (signal.aborted) return Promise.resolve(CANCELLED);
    const { promise, resolve } = Promise.withResolvers<McpOutcome>();
    const cancel = (): void => resolve(CANCELLED);
    signal.addEventListener('abort', cancel, { once: true });
    void answerMcp(caller, method, params, signal).then((outcome) => {
      signal.removeEventListener('abort', cancel);
      resolve(outcome);
    });
    return promise;
  };
}
