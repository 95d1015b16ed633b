// Decides how the command of `terminal/create` is run: directly or in a shell, and in which
// environment.
import { statSync } from 'node:fs';
import { basename, isAbsolute, resolve } from 'node:path';
import { withVariables } from '../agents/agentEnvironment';

export interface CommandRequest {
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
}

export interface CommandPlan {
  readonly file: string;
  readonly args: readonly string[];
  /** Through the command line of a shell; on Windows its arguments are then passed as they are. */
  readonly shell: boolean;
}

/**
 * Words that a shell gives a meaning to; a command without arguments that holds one is a line for a
 * shell.
 */
const SHELL_SYNTAX = /[\s|&;<>()$`"'*?[\]{}#~!\\=%^]/;
/** Builtins that are no files, or that a file of this name can't do. */
const BUILTINS = new Set(
  'alias bg cd command declare dirs eval exec exit export fg hash help history jobs local read readonly set shopt source times trap type typeset ulimit umask unalias unset wait'.split(
    ' ',
  ),
);
/**
 * Shells that understand what agents write (POSIX with the usual bash habits); fish, nu and others
 * do not.
 */
const POSIX_SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh']);

/**
 * Decides how a command is run. Without arguments agents send either a program (`ls`) or a whole
 * line (`npm test && git status`) in `command`, and the protocol does not tell them apart: what is
 * an existing file, or a single word that is no builtin and has no shell syntax, is a program;
 * anything else is given to a shell.
 */
export function planCommand(
  request: CommandRequest,
  env: Readonly<Record<string, string>>,
  platform: NodeJS.Platform = process.platform,
): CommandPlan {
  const { command, args, cwd } = request;
  if (args.length > 0 || isProgram(command, cwd, platform)) return { file: command, args, shell: false };
  if (platform === 'win32') {
    // /d: no AutoRun of the registry; /s with outer quotes: the line arrives as written.
    return { file: variable(env, 'ComSpec') ?? 'cmd.exe', args: ['/d', '/s', '/c', `"${command}"`], shell: true };
  }
  const own = env.SHELL;
  const shell = own && isAbsolute(own) && POSIX_SHELLS.has(basename(own)) ? own : '/bin/sh';
  return { file: shell, args: ['-c', command], shell: true };
}

function isProgram(command: string, cwd: string, platform: NodeJS.Platform): boolean {
  if (/[\\/]/.test(command) && isFile(resolve(cwd, command))) return true;
  // A single word may be a builtin of cmd.exe (`dir`, `type`), which is no file anywhere; every
  // program can be started through it too.
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
 * The environment of a terminal: that of the agent's own process, with the agent's variables over
 * it. Output goes to a pipe that the model reads, so colours are left to the program (and to an
 * agent that sets FORCE_COLOR itself): forcing them would put escapes into pipelines and into the
 * model's text.
 */
export function terminalEnv(
  base: Readonly<Record<string, string>>,
  own: readonly { readonly name: string; readonly value: string }[],
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const added = Object.fromEntries(own.map(({ name, value }) => [name, value]));
  return withVariables({ TERM: 'xterm-256color', ...base }, added, platform);
}

function variable(env: Readonly<Record<string, string>>, name: string): string | undefined {
  const key = Object.keys(env).find((known) => known.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : env[key];
}

/** A command as a person would type it, for display only: never run. */
export function commandLine(command: string, args: readonly string[]): string {
  const words = args.map((arg) => (/^[\w@%+=:,./\\-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", "'\\''")}'`));
  return [command, ...words].join(' ');
}
