// The environment of the user for everything that is started here, without waiting for their shell where that is not needed.
import { isAbsolute } from 'node:path';
import type { Log } from '../base/log';
import { agentEnvironment } from './agentEnvironment';
import { loginShellPath } from './shellPath';

/**
 * The environment to start `command` in (absent: any command), with the PATH of the login shell.
 * A profile may take a second. A name must wait for it: which program it means depends on that PATH. An absolute path does not: VS Code has taken the shell's
 * environment over itself in most starts, so the first agent of a window starts with that, and all later ones with what the shell said.
 */
export async function userEnvironment(log: Log, command?: string): Promise<Record<string, string>> {
  const asked = loginShellPath({ log });
  const path = command !== undefined && isAbsolute(command) ? await Promise.race([asked, undefined]) : await asked;
  return agentEnvironment(process.env, path);
}
