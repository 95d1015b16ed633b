// What of the protocol is not supported, each with its reason: shown in docs/protocol.md.

const providers = 'the agent manages its models and keys';
const proxy = 'for programs between a client and an agent';
const systemPrompt = "Parley does not replace the agent's system prompt";

const both: Readonly<Record<string, string>> = {
  'providers/disable': providers,
  'providers/list': providers,
  'providers/set': providers,
  'proxy/initialize': proxy,
  'proxy/successor': proxy,
  'agent/providers': providers,
};

/** By item, as `itemsOf` in matrix.ts names them. An item that a test proves must not be here. */
export const gaps: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(both).flatMap(([item, why]) => [`v1:${item}`, `v2:${item}`].map((one) => [one, why])),
  ),
  'v1:agent/sessionCapabilities.systemPrompt.mode.override': systemPrompt,
  'v2:agent/session.systemPrompt.mode.override': systemPrompt,
};
