// The user's environment for processes started here, without waiting for their shell where that is
// not needed.
import { isAbsolute } from 'node:path';
import type { Log } from '../base/log';
import { agentEnvironment } from './agentEnvironment';
import { knownShellPath, loginShellPath } from './shellPath';

/**
 * When the shell is asked for a window whose first agent did not wait for it, ms: a profile can
 * keep a processor busy for a second, while the chat opens and the first answer comes.
 */
const ASK_LATER_MS = 30_000;

/** The first time that the shell is asked. */
let first: Promise<unknown> | undefined;

/**
 * The environment to start `command` in (absent: any command), with the PATH of the login shell. A
 * profile may take a second. The name of an agent must wait for it: which program it means depends
 * on that PATH, so a shell that did not answer is asked again. An absolute path does not: VS Code
 * has taken the shell's environment over itself in most starts, so the first agent of a window
 * starts with that, and all later ones with what the shell said. What agents run (absent `command`)
 * waits for the first time only: a broken profile must not slow each of them down.
 */
export async function userEnvironment(log: Log, command?: string): Promise<Record<string, string>> {
  const ask = (): Promise<unknown> => {
    const asked = loginShellPath({ log });
    first ??= asked;
    return asked;
  };
  if (command === undefined) await (first ?? ask());
  else if (!isAbsolute(command)) await ask();
  else if (knownShellPath() === undefined) setTimeout(() => void ask(), ASK_LATER_MS).unref();
  return agentEnvironment(process.env, knownShellPath());
}
