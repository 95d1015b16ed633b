// The script of an agent for tests of everything around sessions: it keeps them in a folder, so that another process of it knows them, and offers exactly what it
// is told to.
import type { AgentScript, SessionsScript } from './script';

/** An agent that keeps its sessions, in the terms of these tests. */
export interface SessionAgentScript
  extends Omit<SessionsScript, 'store'>,
    Pick<AgentScript, 'authMethods' | 'signedIn' | 'authOn' | 'authData' | 'logout' | 'mute'> {
  /** Names below `sessionCapabilities`: list, resume, fork, close, delete, title, archive, additionalDirectories. */
  readonly offers?: readonly string[];
  readonly mcp?: { readonly http?: boolean; readonly sse?: boolean };
  readonly ready?: boolean;
  /** The modes of each session; it is in the first one whenever it is opened. */
  readonly modes?: readonly string[];
}

/** The script of an agent that keeps its sessions in a folder and answers each prompt with “Heard” and its text. */
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
    logout,
    mute,
    ...sessions
  }: SessionAgentScript,
): AgentScript {
  const [currentModeId] = modes ?? [];
  return {
    hears: true,
    sessions: { store, addsTools: true, ...sessions },
    capabilities: {
      mcpCapabilities: mcp ?? {},
      sessionCapabilities: Object.fromEntries(offers.map((name) => [name, {}])),
    },
    ...(ready && { ready: { path: ['agentCapabilities', 'sessionCapabilities', 'ready'], value: {} } }),
    ...(modes && { modes: { currentModeId, availableModes: modes.map((id) => ({ id, name: id })) } }),
    ...(authMethods && { authMethods }),
    ...(signedIn !== undefined && { signedIn }),
    ...(authOn && { authOn }),
    ...(authData && { authData }),
    ...(logout && { logout }),
    ...(mute && { mute }),
  };
}
