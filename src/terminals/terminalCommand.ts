// Decides how the command of `terminal/create` runs: directly or in a shell, and its environment.
import { statSync } from 'node:fs';
import { basename, isAbsolute, resolve } from 'node:path';
import { withVariables } from '../agents/agentEnvironment';

export interface CommandRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

export interface CommandPlan {
  readonly file: string;
  readonly args: readonly string[];
  /** Run in a shell; on Windows, arguments are then passed verbatim. */
  readonly shell: boolean;
}

/** Makes a command without arguments a shell command line. */
const SHELL_SYNTAX = /[\s|&;<>()$`"'*?[\]{}#~!\\=%^]/;
/** Builtins that are not programs, or that a program of this name can't replace. */
const BUILTINS = new Set(
  'alias bg cd command declare dirs eval exec exit export fg hash help history jobs local read readonly set shopt source times trap type typeset ulimit umask unalias unset wait'.split(
    ' ',
  ),
);
/** Shells compatible with what agents write (POSIX, common bash syntax), unlike fish or nu. */
const POSIX_SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh']);

/**
 * Plans how to run a command. Without arguments, agents send either a program (`ls`) or a command
 * line (`npm test && git status`). An existing file, or a word without shell syntax that is not a
 * builtin, is a program; the rest runs in a shell.
 */
export function planCommand(
  request: CommandRequest,
  env: Readonly<Record<string, string>>,
  platform: NodeJS.Platform = process.platform,
): CommandPlan {
  const { command, args, cwd } = request;
  if (args.length > 0 || isProgram(command, cwd, platform)) return { file: command, args, shell: false };
  if (platform === 'win32') {
    // /d skips AutoRun of the registry; /s with outer quotes passes the line verbatim.
    return { file: variable(env, 'ComSpec') ?? 'cmd.exe', args: ['/d', '/s', '/c', `"${command}"`], shell: true };
  }
  const userShell = env.SHELL;
  const shell = userShell && isAbsolute(userShell) && POSIX_SHELLS.has(basename(userShell)) ? userShell : '/bin/sh';
  return { file: shell, args: ['-c', command], shell: true };
}

function isProgram(command: string, cwd: string, platform: NodeJS.Platform): boolean {
  if (/[\\/]/.test(command) && isFile(resolve(cwd, command))) return true;
  // A single word can be a builtin of cmd.exe (`dir`, `type`), which can also start any program.
  return platform !== 'win32' && !SHELL_SYNTAX.test(command) && !BUILTINS.has(command);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * Returns the agent's environment overridden by the terminal's. Doesn't force colours, since
 * escapes would end up in pipelines and in the model's input.
 */
export function terminalEnv(
  base: Readonly<Record<string, string>>,
  variables: readonly { readonly name: string; readonly value: string }[],
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const added = Object.fromEntries(variables.map(({ name, value }) => [name, value]));
  return withVariables({ TERM: 'xterm-256color', ...base }, added, platform);
}

function variable(env: Readonly<Record<string, string>>, name: string): string | undefined {
  const key = Object.keys(env).find((known) => known.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : env[key];
}

/** Returns a command as typed in a shell, for display only. */
export function commandLine(command: string, args: readonly string[]): string {
  const words = args.map((arg) => (/^[\w@%+=:,./\\-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", "'\\''")}'`));
  return [command, ...words].join(' ');
}
