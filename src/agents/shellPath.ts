// The PATH that the user has in their terminal. An editor started from a desktop icon lacks what
// nvm, Homebrew or pyenv add in a shell profile, and most agents are installed through those.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import { basename, delimiter } from 'node:path';
import { messageOf } from '../base/errors';
import type { Log } from '../base/log';
import { within } from '../base/within';
import { usersEnvironment } from './hostEnvironment';
import { guard, unguard } from './orphanGuard';
import { signalGroup } from './processTree';

/** Options of {@link loginShellPath}. */
export interface ShellPathOptions {
  readonly log: Log;
  /** The environment of the extension host. Default: this process's. */
  readonly env?: NodeJS.ProcessEnv;
  /** The shell to ask. Default: `$SHELL`, else the one of the user's account. */
  readonly shell?: string;
  /** How long the caller waits for a profile, in milliseconds. Default 5 s. */
  readonly deadlineMs?: number;
  /** How long the shell may run before it is ended, in milliseconds. Default 60 s. */
  readonly limitMs?: number;
}

/** How a login shell was asked last. */
export interface ShellAnswer {
  readonly shell: string;
  /** How long it took, or was waited for, in milliseconds. */
  readonly ms: number;
  readonly path?: string;
  /** Why it has not answered. */
  readonly problem?: string;
}

const MAX_OUTPUT_CHARS = 1024 * 1024;
/**
 * What shells have answered, by shell. Only answers are kept: a profile that was slow once is asked
 * again.
 */
const answers = new Map<string, string>();
let last: ShellAnswer | undefined;
/** Shells that run now; each resolves when the shell has answered, or with undefined when it has failed. */
const asking = new Map<string, Promise<string | undefined>>();

/**
 * Asks the user's login shell for its PATH. A shell that has answered is not asked again in this
 * process; one that is late continues, and the next call waits for the same run.
 * @returns undefined on Windows, where programs get the user's PATH anyway, and where the shell has
 * not answered yet.
 */
export function loginShellPath(options: ShellPathOptions): Promise<string | undefined> {
  if (process.platform === 'win32') return Promise.resolve(undefined);
  const { env = process.env, shell = userShell(env) } = options;
  if (!shell) return Promise.resolve(undefined);
  const known = answers.get(shell);
  if (known !== undefined) return Promise.resolve(known);
  const { log, deadlineMs = 5000, limitMs = 60_000 } = options;
  const began = performance.now();
  const noted = (facts: Pick<ShellAnswer, 'path' | 'problem'>): void => {
    last = { shell, ms: performance.now() - began, ...facts };
  };
  const answer =
    asking.get(shell) ??
    askShell(shell, env, Math.max(deadlineMs, limitMs), log)
      .then((path) => {
        if (path !== undefined) answers.set(shell, path);
        noted(path === undefined ? { problem: 'it has no PATH' } : { path });
        return path;
      })
      .catch((error: unknown) => {
        log.warn(`Could not read the PATH of the login shell ${shell}: ${messageOf(error)}`);
        noted({ problem: messageOf(error) });
        return undefined;
      })
      .finally(() => asking.delete(shell));
  asking.set(shell, answer);
  return within(deadlineMs, answer).then((isThere) => {
    if (isThere) return answer;
    log.warn(`The login shell ${shell} has not printed its PATH within ${deadlineMs} ms`);
    noted({ problem: `no answer within ${deadlineMs} ms` });
    return undefined;
  });
}

/** Returns how a login shell was asked last; undefined where none was. */
export function lastShellAnswer(): ShellAnswer | undefined {
  return last;
}

/**
 * Returns what the user's login shell has answered so far, which may be later than its callers have
 * waited for.
 */
export function knownShellPath(): string | undefined {
  return answers.get(userShell(process.env) ?? '');
}

/**
 * The folders of `first`, then those of `second` that are not among them; empty ones are dropped.
 */
export function mergePaths(first: string | undefined, second: string | undefined): string {
  const folders = `${first ?? ''}${delimiter}${second ?? ''}`.split(delimiter).filter((folder) => folder !== '');
  return [...new Set(folders)].join(delimiter);
}

function userShell(env: NodeJS.ProcessEnv): string | undefined {
  try {
    return env.SHELL || (userInfo().shell ?? undefined);
  } catch {
    return undefined;
  }
}

/**
 * What makes a login shell print its environment between two marks. One program does it all, so that
 * every kind of shell can call it: nushell keeps all but the last of several commands to itself.
 */
export function shellArguments(shell: string, mark: string): readonly string[] {
  const script = `/bin/sh -c 'echo ${mark}; /usr/bin/env; echo ${mark}'`;
  switch (basename(shell)) {
    // The C shells take `-l` only alone.
    case 'csh':
    case 'tcsh':
      return ['-i', '-c', script];
    case 'nu':
      return ['-i', '-l', '-c', `^${script}`];
    case 'pwsh':
    case 'pwsh-preview':
      return ['-Login', '-Command', script];
    default:
      return ['-i', '-l', '-c', script];
  }
}

function askShell(shell: string, env: NodeJS.ProcessEnv, limitMs: number, log: Log): Promise<string | undefined> {
  // Profiles print: greetings, version managers, prompts. Only what stands between the marks
  // counts.
  const mark = `parley-${randomBytes(8).toString('hex')}`;
  return new Promise((resolve, reject) => {
    // A group of its own: an interactive shell takes over the terminal of its group, and its
    // leftovers must be endable.
    const after = Date.now();
    const child = spawn(shell, shellArguments(shell, mark), {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
      // Profiles know this name from VS Code and skip what needs a person.
      env: { ...usersEnvironment(env), VSCODE_RESOLVING_ENVIRONMENT: '1' },
    });
    let output = '';
    let settled = false;
    const settle = (finish: () => void): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      child.stdout.destroy();
      if (child.pid !== undefined) {
        signalGroup(child.pid, 'SIGKILL');
        unguard(child.pid);
      }
      finish();
    };
    if (child.pid !== undefined) guard(child.pid, after, log);
    const timer = setTimeout(() => settle(() => reject(new Error(`no answer within ${limitMs} ms`))), limitMs);
    // A profile that hangs must not keep this process alive.
    timer.unref();
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      if (output.length < MAX_OUTPUT_CHARS) output += chunk;
      const parts = output.split(mark);
      if (parts.length >= 3) settle(() => resolve(/^PATH=(.+)$/m.exec(parts[1] ?? '')?.[1]));
    });
    child.on('error', (error) => settle(() => reject(error)));
    child.on('close', (code) => settle(() => reject(new Error(`it ended with code ${code} and did not print it`))));
  });
}
