// Builds the environment of an agent: the user's, with the PATH of their login shell and the
// variables in the agent's setting.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import { basename, delimiter, isAbsolute, posix } from 'node:path';
import { messageOf } from '../base/errors';
import type { Log } from '../base/log';
import { within } from '../base/within';
import { guard, unguard } from './orphanGuard';
import { signalGroup } from './processTree';

const LOCALE_NAMES = ['LC_ALL', 'LC_CTYPE', 'LANG'];

export function agentEnvironment(
  env: NodeJS.ProcessEnv,
  shellPath: string | undefined,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const merged = usersEnvironment(env);
  // Apps started from the Dock have no locale, so programs read all text as ASCII. Terminal.app
  // sets this one.
  if (platform === 'darwin' && !LOCALE_NAMES.some((name) => merged[name])) merged.LANG = 'en_US.UTF-8';
  const pathKey = Object.keys(merged).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  if (shellPath !== undefined) merged[pathKey] = mergePaths(shellPath, merged[pathKey]);
  return merged;
}

export function withVariables(
  base: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const merged = new Map(Object.entries(base));
  for (const [name, value] of Object.entries(own)) {
    if (platform === 'win32') {
      // Windows ignores the case of names, so of two spellings a random one would win.
      for (const known of [...merged.keys()]) if (known.toLowerCase() === name.toLowerCase()) merged.delete(known);
    }
    merged.set(name, value);
  }
  return Object.fromEntries(merged);
}

/** Variables that make a child act as part of VS Code: Electron as Node, sockets of this window. */
const INTERNAL_NAMES = /^(ELECTRON_|VSCODE_|APPLICATIONINSIGHTS_|APPLICATION_INSIGHTS_)/i;
const EDITOR_NODE_OPTIONS = /--inspect|js-debug|vscode/i;

/** Original values of variables that the snap launcher replaced; empty if there was none. */
const SNAP_ORIGINAL = /_VSCODE_SNAP_ORIG$/;

export function hostEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !INTERNAL_NAMES.test(name)) own[name] = value;
  }
  // VS Code's launcher stores the user's own value here.
  const users = env.VSCODE_NODE_OPTIONS;
  if (users) own.NODE_OPTIONS = users;
  else if (own.NODE_OPTIONS !== undefined && EDITOR_NODE_OPTIONS.test(own.NODE_OPTIONS)) delete own.NODE_OPTIONS;
  return own;
}

/**
 * Returns the environment for other programs, also without what a snap or AppImage adds: system
 * programs would load the package's libraries and fail. A Flatpak keeps its own.
 * @param program of the extension host
 */
export function usersEnvironment(env: NodeJS.ProcessEnv, program = process.execPath): Record<string, string> {
  const own = hostEnvironment(env);
  leavePackages(own, program);
  return own;
}

function leavePackages(env: Record<string, string>, program: string): void {
  for (const root of [env.SNAP, env.APPDIR]) {
    // Set by another program, from which the user started VS Code.
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

export interface ShellPathOptions {
  readonly log: Log;
  readonly env?: NodeJS.ProcessEnv;
  /** Default: `$SHELL`, else the shell of the user's account. */
  readonly shell?: string;
  /** Timeout for the caller, in ms. Default 5 s. */
  readonly deadlineMs?: number;
  /** Timeout for the shell itself, in ms. Default 60 s. */
  readonly limitMs?: number;
}

export interface ShellAnswer {
  readonly shell: string;
  readonly ms: number;
  readonly path?: string;
  readonly problem?: string;
}

const MAX_OUTPUT_CHARS = 1024 * 1024;
/** PATH by shell. Failures are not cached, so a slow profile is asked again. */
const pathByShell = new Map<string, string>();
let last: ShellAnswer | undefined;
const pendingShells = new Map<string, Promise<string | undefined>>();

/**
 * Asks the login shell for its PATH, once per process.
 * @returns undefined on Windows, where programs get the user's PATH anyway, or on a timeout
 */
export function loginShellPath(options: ShellPathOptions): Promise<string | undefined> {
  if (process.platform === 'win32') return Promise.resolve(undefined);
  const { env = process.env, shell = userShell(env) } = options;
  if (!shell) return Promise.resolve(undefined);
  const known = pathByShell.get(shell);
  if (known !== undefined) return Promise.resolve(known);
  const { log, deadlineMs = 5000, limitMs = 60_000 } = options;
  const began = performance.now();
  const noted = (facts: Pick<ShellAnswer, 'path' | 'problem'>): void => {
    last = { shell, ms: performance.now() - began, ...facts };
  };
  const answer =
    pendingShells.get(shell) ??
    askShell(shell, env, Math.max(deadlineMs, limitMs), log)
      .then((path) => {
        if (path !== undefined) pathByShell.set(shell, path);
        noted(path === undefined ? { problem: 'it has no PATH' } : { path });
        return path;
      })
      .catch((error: unknown) => {
        log.warn(`Could not read the PATH of the login shell ${shell}: ${messageOf(error)}`);
        noted({ problem: messageOf(error) });
        return undefined;
      })
      .finally(() => pendingShells.delete(shell));
  pendingShells.set(shell, answer);
  return within(deadlineMs, answer).then((isThere) => {
    if (isThere) return answer;
    log.warn(`The login shell ${shell} has not printed its PATH within ${deadlineMs} ms`);
    noted({ problem: `no answer within ${deadlineMs} ms` });
    return undefined;
  });
}

export function lastShellAnswer(): ShellAnswer | undefined {
  return last;
}

export function knownShellPath(): string | undefined {
  return pathByShell.get(userShell(process.env) ?? '');
}

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

/** Uses a single program between two marks, as nushell prints only the last command's output. */
export function shellArguments(shell: string, mark: string): readonly string[] {
  const script = `/bin/sh -c 'echo ${mark}; /usr/bin/env; echo ${mark}'`;
  switch (basename(shell)) {
    // The C shells accept `-l` only on its own.
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
  // Profiles print greetings and prompts, so only text between the marks counts.
  const mark = `parley-${randomBytes(8).toString('hex')}`;
  return new Promise((resolve, reject) => {
    // In its own group, as an interactive shell takes over its group's terminal.
    const after = Date.now();
    const child = spawn(shell, shellArguments(shell, mark), {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
      // Profiles check this VS Code variable to skip interactive steps.
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
    // A hanging profile must not keep this process alive.
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

/** Delay in ms if the first agent doesn't need the PATH: a profile can take a second of CPU. */
const SHELL_DELAY_MS = 30_000;

let first: Promise<unknown> | undefined;

/**
 * Returns the environment for `command` (default: any command), with the login shell's PATH.
 * Waits for the shell if `command` is a name, which PATH resolves. Does not wait for an absolute
 * path, as VS Code usually has the shell's environment already. Without `command` (for what agents
 * run), waits only the first time, so that a broken profile does not slow every call.
 */
export async function userEnvironment(log: Log, command?: string): Promise<Record<string, string>> {
  const ask = (): Promise<unknown> => {
    const asked = loginShellPath({ log });
    first ??= asked;
    return asked;
  };
  if (command === undefined) await (first ?? ask());
  else if (!isAbsolute(command)) await ask();
  else if (knownShellPath() === undefined) setTimeout(() => void ask(), SHELL_DELAY_MS).unref();
  return agentEnvironment(process.env, knownShellPath());
}
