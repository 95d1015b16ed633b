// What of the protocol is not supported, each with its reason: shown in docs/protocol.md.

const authStatus = 'error -32000 says that a sign-in is needed';
const providers = 'the agent manages its models and keys';
const proxy = 'for programs between a client and an agent';
const systemPrompt = "Parley does not replace the agent's system prompt";

/** By item, as `itemsOf` in matrix.ts names them. An item that a test proves must not be here. */
export const gaps: Readonly<Record<string, string>> = {
  'v1:auth/status': authStatus,
  'v1:auth/status_update': `ignored: ${authStatus}`,
  'v1:providers/disable': providers,
  'v1:providers/list': providers,
  'v1:providers/set': providers,
  'v1:proxy/initialize': proxy,
  'v1:proxy/successor': proxy,
  'v1:agent/sessionCapabilities.systemPrompt.mode.override': systemPrompt,
  'v1:agent/auth.status': authStatus,
  'v1:agent/providers': providers,
  'v2:auth/status': authStatus,
  'v2:auth/status_update': `ignored: ${authStatus}`,
  'v2:providers/disable': providers,
  'v2:providers/list': providers,
  'v2:providers/set': providers,
  'v2:proxy/initialize': proxy,
  'v2:proxy/successor': proxy,
  'v2:agent/session.systemPrompt.mode.override': systemPrompt,
  'v2:agent/auth.status': authStatus,
  'v2:agent/providers': providers,
};
