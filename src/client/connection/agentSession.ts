// A session, as its agent reaches it.
import type { RpcHandlers } from '../../acp/jsonrpc/rpcConnection';
import type { ToolSession } from '../mcp/editorTools';
import type { ReplayedSession } from './sessionReplay';

export interface AgentSession extends ReplayedSession, ToolSession {
  readonly request: RpcHandlers['onRequest'];
  readonly notification: RpcHandlers['onNotification'];
}
