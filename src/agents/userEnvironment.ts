// The environment of the user for everything that is started here, without waiting for their shell where that is not needed.
import { isAbsolute } from 'node:path';
import type { Log } from '../base/log';
import { agentEnvironment } from './agentEnvironment';
import { loginShellPath } from './shellPath';

/** When the shell is asked for a window whose first agent did not wait for it, ms: a profile can keep a processor busy for a second, while the chat opens and the first answer comes. */
const ASK_LATER_MS = 30_000;

let shellPath: string | undefined;

/**
 * The environment to start `command` in (absent: any command), with the PATH of the login shell.
 * A profile may take a second. A name must wait for it: which program it means depends on that PATH. An absolute path does not: VS Code has taken the shell's
 * environment over itself in most starts, so the first agent of a window starts with that, and all later ones with what the shell said.
 */
export async function userEnvironment(log: Log, command?: string): Promise<Record<string, string>> {
  if (command === undefined || !isAbsolute(command)) await ask(log);
  else if (shellPath === undefined) setTimeout(() => void ask(log), ASK_LATER_MS).unref();
  return agentEnvironment(process.env, shellPath);
}

async function ask(log: Log): Promise<void> {
  shellPath = await loginShellPath({ log });
}
