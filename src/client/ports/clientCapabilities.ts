// Services of this machine that an agent may use. A local agent has them anyway; a remote one only
// if the user allows it in its entry.
import type { RpcHandlers } from '../../acp/jsonrpc/rpcConnection';
import { RPC_CODES, RpcError } from '../../acp/jsonrpc/rpcError';
import type { AgentDefinition } from '../../agents/agentDefinition';

export interface ClientCapabilities {
  readonly files: boolean;
  readonly terminals: boolean;
}

export const NO_CAPABILITIES: ClientCapabilities = { files: false, terminals: false };

export function clientCapabilitiesOf(agent: AgentDefinition): ClientCapabilities {
  if (agent.type === 'process') return { files: true, terminals: true };
  return {
    files: agent.type === 'remote' && agent.allow.files,
    terminals: agent.type === 'remote' && agent.allow.terminals,
  };
}

/** Answers -32601 to methods that weren't offered. */
export function refusingOthers(
  { files, terminals }: ClientCapabilities,
  next: RpcHandlers['onRequest'],
): RpcHandlers['onRequest'] {
  return async (method, params, signal, id) => {
    if ((method.startsWith('fs/') && !files) || (method.startsWith('terminal/') && !terminals)) {
      throw new RpcError(RPC_CODES.methodNotFound, `Method not found: ${method}`);
    }
    return next(method, params, signal, id);
  };
}
