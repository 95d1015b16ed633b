// What of the protocol is not supported, each with its reason: shown in docs/protocol.md.

const authStatus = 'whether a sign-in is needed is learned from the error -32000';
const mcp = 'Parley runs no MCP server of its own that an agent could reach over this connection';
const providers = "models and their keys are the agent's own settings";
const proxy = 'for programs between a client and an agent';
const systemPrompt = "the agent's own system prompt is not replaced";

/** By item, as `itemsOf` in matrix.ts names them. An item that a test proves must not be here. */
export const gaps: Readonly<Record<string, string>> = {
  'v1:auth/status': authStatus,
  'v1:auth/status_update': `heard and ignored: ${authStatus}`,
  'v1:mcp/message': mcp,
  'v1:providers/disable': providers,
  'v1:providers/list': providers,
  'v1:providers/set': providers,
  'v1:proxy/initialize': proxy,
  'v1:proxy/successor': proxy,
  'v1:agent/mcpCapabilities.acp': mcp,
  'v1:agent/sessionCapabilities.systemPrompt.mode.override': systemPrompt,
  'v1:agent/auth.status': authStatus,
  'v1:agent/providers': providers,
  'v2:auth/status': authStatus,
  'v2:auth/status_update': `heard and ignored: ${authStatus}`,
  'v2:mcp/message': mcp,
  'v2:providers/disable': providers,
  'v2:providers/list': providers,
  'v2:providers/set': providers,
  'v2:proxy/initialize': proxy,
  'v2:proxy/successor': proxy,
  'v2:agent/session.mcp.acp': mcp,
  'v2:agent/session.systemPrompt.mode.override': systemPrompt,
  'v2:agent/auth.status': authStatus,
  'v2:agent/providers': providers,
};
