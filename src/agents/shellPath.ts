// The PATH that the user has in their terminal. An editor started from a desktop icon has none of what nvm, Homebrew or pyenv add in a shell profile, and agents are
// mostly installed through those.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import { delimiter } from 'node:path';
import { messageOf } from '../base/errors';
import type { Log } from '../base/log';
import { hostEnvironment } from './hostEnvironment';
import { signalGroup } from './processTree';

/** Options of {@link loginShellPath}. */
export interface ShellPathOptions {
  readonly log: Log;
  /** The environment of the extension host. Default: this process's. */
  readonly env?: NodeJS.ProcessEnv;
  /** The shell to ask. Default: `$SHELL`, else the one of the user's account. */
  readonly shell?: string;
  /** How long a profile may take, in milliseconds. Default 5 s. */
  readonly deadlineMs?: number;
}

const maxOutputChars = 1024 * 1024;
const cache = new Map<string, Promise<string | undefined>>();

/**
 * Asks the user's login shell for its PATH, once per process and shell.
 * @returns undefined on Windows, where programs get the user's PATH anyway, and where the shell does not answer in time.
 */
export function loginShellPath(options: ShellPathOptions): Promise<string | undefined> {
  if (process.platform === 'win32') return Promise.resolve(undefined);
  const env = options.env ?? process.env;
  const shell = options.shell ?? (env.SHELL || accountShell());
  if (!shell) return Promise.resolve(undefined);
  const known = cache.get(shell);
  if (known) return known;
  const asked = askShell(shell, env, options.deadlineMs ?? 5000).catch((error: unknown) => {
    options.log.warn(`The PATH of the login shell ${shell} is not known: ${messageOf(error)}`);
    return undefined;
  });
  cache.set(shell, asked);
  return asked;
}

/** The folders of `first`, then those of `second` that are not among them; empty ones are dropped. */
export function mergePaths(first: string | undefined, second: string | undefined): string {
  const folders = `${first ?? ''}${delimiter}${second ?? ''}`.split(delimiter).filter((folder) => folder !== '');
  return [...new Set(folders)].join(delimiter);
}

function accountShell(): string | undefined {
  try {
    return userInfo().shell ?? undefined;
  } catch {
    return undefined;
  }
}

function askShell(shell: string, env: NodeJS.ProcessEnv, deadlineMs: number): Promise<string | undefined> {
  // Profiles print: greetings, version managers, prompts. Only what stands between the marks counts. `env` is a program, so that every kind of shell can call it.
  const mark = `parley-${randomBytes(8).toString('hex')}`;
  const script = `echo ${mark}; /usr/bin/env; echo ${mark}`;
  return new Promise((resolve, reject) => {
    // A group of its own: an interactive shell takes over the terminal of its group, and its leftovers must be endable.
    // The C shells take `-l` only alone.
    const flags = /csh$/.test(shell) ? ['-i', '-c'] : ['-i', '-l', '-c'];
    const child = spawn(shell, [...flags, script], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
      // Profiles know this name from VS Code and skip what needs a person.
      env: { ...hostEnvironment(env), VSCODE_RESOLVING_ENVIRONMENT: '1' },
    });
    let output = '';
    let settled = false;
    const settle = (finish: () => void): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      child.stdout.destroy();
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
      finish();
    };
    const timer = setTimeout(() => settle(() => reject(new Error(`no answer within ${deadlineMs} ms`))), deadlineMs);
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      if (output.length < maxOutputChars) output += chunk;
      const parts = output.split(mark);
      if (parts.length >= 3) settle(() => resolve(/^PATH=(.+)$/m.exec(parts[1] ?? '')?.[1]));
    });
    child.on('error', (error) => settle(() => reject(error)));
    child.on('close', (code) => settle(() => reject(new Error(`it ended with code ${code} and did not print it`))));
  });
}
