// The environment of the extension host without the variables that VS Code, and the package that it
// came in, add for its own processes.
import { delimiter, posix } from 'node:path';

/**
 * Variables of VS Code that make a child behave as a part of VS Code: an Electron that runs as
 * Node, a debugger that waits, sockets of this window.
 */
const INTERNAL_NAMES = /^(ELECTRON_|VSCODE_|APPLICATIONINSIGHTS_|APPLICATION_INSIGHTS_)/i;
const EDITOR_NODE_OPTIONS = /--inspect|js-debug|vscode/i;

/** Where the launcher of the snap keeps the values that it replaces; empty: there was none. */
const SNAP_ORIGINAL = /_VSCODE_SNAP_ORIG$/;

/**
 * The environment of the extension host without what makes a child a part of VS Code: for programs
 * that come with VS Code, or run in its Electron.
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

/**
 * The environment of the extension host as the user had it: also without what a snap or an AppImage
 * adds. Programs of the system would load the libraries, schemas and modules of the package in place
 * of their own, and fail. A Flatpak needs its own.
 * @param program of the extension host; absolute
 */
export function usersEnvironment(env: NodeJS.ProcessEnv, program = process.execPath): Record<string, string> {
  const own = hostEnvironment(env);
  leavePackages(own, program);
  return own;
}

function leavePackages(env: Record<string, string>, program: string): void {
  for (const root of [env.SNAP, env.APPDIR]) {
    // Of another program: the user has started VS Code from there.
    if (root === undefined || !posix.isAbsolute(root) || !isIn(root, program)) continue;
    for (const [name, value] of Object.entries(env)) {
      const parts = value.split(delimiter);
      const others = parts.filter((part) => !isIn(root, part));
      if (others.length < parts.length && name !== 'SNAP' && name !== 'APPDIR') {
        if (others.some((part) => part !== '')) env[name] = others.join(delimiter);
        else delete env[name];
      }
    }
    for (const name of Object.keys(env)) {
      if (!SNAP_ORIGINAL.test(name)) continue;
      const replaced = name.replace(SNAP_ORIGINAL, '');
      const original = env[name];
      delete env[name];
      if (original) env[replaced] = original;
      else delete env[replaced];
    }
    for (const name of Object.keys(env)) if (/^(?:SNAP(?:_|$)|APPDIR$|APPIMAGE$)/.test(name)) delete env[name];
  }
}

function isIn(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`);
}
