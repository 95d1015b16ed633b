// The environment of the extension host without the variables that VS Code adds for its own
// processes.

/**
 * Variables of VS Code that make a child behave as a part of VS Code: an Electron that runs as
 * Node, a debugger that waits, sockets of this window.
 */
const INTERNAL_NAMES = /^(ELECTRON_|VSCODE_|APPLICATIONINSIGHTS_|APPLICATION_INSIGHTS_)/i;
const EDITOR_NODE_OPTIONS = /--inspect|js-debug|vscode/i;

/**
 * The environment of the extension host as the user had it.
 * @param env the environment of the extension host
 */
export function hostEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !INTERNAL_NAMES.test(name)) own[name] = value;
  }
  // The launcher of VS Code moves the user's own value aside; what is in its place is for VS Code.
  const users = env.VSCODE_NODE_OPTIONS;
  if (users) own.NODE_OPTIONS = users;
  else if (own.NODE_OPTIONS !== undefined && EDITOR_NODE_OPTIONS.test(own.NODE_OPTIONS)) delete own.NODE_OPTIONS;
  return own;
}
