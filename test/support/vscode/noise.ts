// Messages of VS Code from npm that appear in every run and mean nothing: native modules that are
// not compiled (see serverTree.ts), galleries that are not reachable, its start.

const NOISE =
  /bindings file|native-watchdog|\.node'|open-vsx|Failed to load resource|[Mm]anifest fetch|Resolv(ing|ed) connection|Creating a socket|\[driver\]|Updating additional|ChatSessionStore|[Ss]ervice ?[Ww]orker|bad HTTP response code|escape its sandboxing|reconnection-grace-time|\[AgentHost|AccountPolicyGate|web worker extension host/;

export function isNoise(text: string): boolean {
  return NOISE.test(text);
}
