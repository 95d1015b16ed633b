// The script of an agent for tests of everything around sessions: it keeps them in a folder, so
// that a second process knows them, and offers only the capabilities of its script.
import type { AgentScript, SessionsScript } from './script';

export interface SessionAgentScript
  extends Omit<SessionsScript, 'store'>,
    Pick<AgentScript, 'authMethods' | 'signedIn' | 'authOn' | 'authData' | 'authWords' | 'logout' | 'mute'> {
  readonly offers?: readonly string[];
  readonly mcp?: { readonly http?: boolean; readonly sse?: boolean };
  readonly ready?: boolean;
  readonly modes?: readonly string[];
}

export function sessionScript(
  store: string,
  {
    offers = [],
    mcp,
    ready,
    modes,
    authMethods,
    signedIn,
    authOn,
    authData,
    authWords,
    logout,
    mute,
    ...sessions
  }: SessionAgentScript,
): AgentScript {
  const [currentModeId] = modes ?? [];
  return {
    ...{ authMethods, signedIn, authOn, authData, authWords, logout, mute },
    hears: true,
    sessions: { store, addsTools: true, ...sessions },
    capabilities: {
      mcpCapabilities: mcp ?? {},
      sessionCapabilities: Object.fromEntries(offers.map((name) => [name, {}])),
    },
    ...(ready && { ready: { path: ['agentCapabilities', 'sessionCapabilities', 'ready'], value: {} } }),
    ...(modes && { modes: { currentModeId, availableModes: modes.map((id) => ({ id, name: id })) } }),
  };
}
