// Plans the `spawn` arguments of a program, so that each argument arrives unchanged. On Windows
// only .exe files start without cmd.exe, which would interpret arguments.
import { access, open } from 'node:fs/promises';
import { dirname, extname, join, win32 } from 'node:path';
import { messageOf, ParleyError } from '../base/errors';
import { type Localizable, localizable } from '../base/localizable';
import { succeeds } from '../base/within';
import { resolveCommand } from './resolveCommand';

const MAX_SHIM_BYTES = 16 * 1024;
/** Keeps cmd.exe from running programs in the current folder. */
const NO_CURRENT_FOLDER = { NoDefaultCurrentDirectoryInExePath: '1' };

export interface StartPlan {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly windowsVerbatimArguments: boolean;
}

/**
 * @param command from `resolveCommand`
 * @throws ParleyError `agent-spawn-failed` if an argument can't be passed to a batch file,
 * `agent-not-found` if a script's Node.js is missing
 */
export async function planStart(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  platform: NodeJS.Platform = process.platform,
): Promise<StartPlan> {
  const direct: StartPlan = { file: command, args, env, windowsVerbatimArguments: false };
  if (platform !== 'win32') return direct;
  const extension = extname(command).toLowerCase();
  if (extension === '.exe' || extension === '.com') return direct;
  if (['.js', '.mjs', '.cjs'].includes(extension)) {
    const node = await findNode(dirname(command), env);
    if (node !== undefined) return { ...direct, file: node, args: [command, ...args] };
  }
  if (extension === '.cmd' || extension === '.bat') {
    const target = shimTarget(command, await readShim(command));
    if (target && !target.isScript) return { ...direct, file: target.file };
    const node = target && (await findNode(dirname(command), env));
    if (target && node !== undefined)
      return { ...direct, file: node, args: [...target.nodeArgs, target.file, ...args] };
  }
  return planCmd(command, args, env);
}

/** Plans a batch file or a cmd.exe builtin. @throws ParleyError `agent-spawn-failed` */
export function planCmd(command: string, args: readonly string[], env: Readonly<Record<string, string>>): StartPlan {
  return {
    file: process.env.ComSpec ?? 'cmd.exe',
    // No AutoRun from the registry, command extensions on, no expansion of `!`.
    args: ['/d', '/e:on', '/v:off', '/s', '/c', batchLine(command, args)],
    env: { ...env, ...NO_CURRENT_FOLDER },
    windowsVerbatimArguments: true,
  };
}

async function readShim(path: string): Promise<string> {
  const file = await open(path).catch(() => undefined);
  if (!file) return '';
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(MAX_SHIM_BYTES + 1), position: 0 });
    return bytesRead > MAX_SHIM_BYTES ? '' : buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Finds Node.js beside the shim, else on PATH; undefined if that is a batch file. */
async function findNode(folder: string, env: Readonly<Record<string, string>>): Promise<string | undefined> {
  const own = join(folder, 'node.exe');
  if (await succeeds(access(own))) return own;
  const found = await resolveCommand('node', { cwd: folder, env });
  return found.toLowerCase().endsWith('.exe') ? found : undefined;
}

/** Literal for cmd.exe and batch files without quotes: `,`, `;` and `=` separate arguments. */
const PLAIN = /^[\w#$+\-./:@\\]+$/;
/** cmd.exe expands variables even in quotes, and a line break ends the line. */
const UNSAFE = /[%\r\n\0]/;

/**
 * Returns the quoted line after `cmd.exe /s /c`. A batch file passes its arguments on as text
 * (`%*`), so cmd.exe parses them several times, and carets would have to be doubled each time.
 * Quotes survive all passes; a quote in an argument is doubled, which programs parse as one.
 * @throws ParleyError `agent-spawn-failed` if a text can't be passed
 */
export function batchLine(command: string, args: readonly string[]): string {
  const words = [command, ...args];
  if (words.some((word) => UNSAFE.test(word))) {
    const reason = localizable("a batch file can't have a percent sign or a line break in its path or arguments");
    throw new ParleyError('agent-spawn-failed', localizable("Couldn't start {0}: {1}.", command, reason), {
      hint: localizable('Use the program that the batch file calls as the command.'),
    });
  }
  return `"${words.map(quoted).join(' ')}"`;
}

function quoted(word: string): string {
  if (PLAIN.test(word)) return word;
  // Programs treat backslashes before a quote as escapes.
  return `"${word.replace(/(\\*)("|$)/g, (_, slashes: string, end: string) => slashes + slashes + end + end)}"`;
}

export interface ShimTarget {
  readonly file: string;
  readonly isScript: boolean;
  readonly nodeArgs: readonly string[];
}

const AROUND_THE_CALL = [
  /^@?(?:echo off|setlocal)$/i,
  /^(?:goto start|exit \/b|call :find_dp0|:find_dp0|:start)$/i,
  /^set dp0=%~dp0$/i,
  /^@?if exist "(?:%dp0%|%~dp0)\\node\.exe" \($/i,
  /^set "_prog=(?:%dp0%\\node\.exe|node)"$/i,
  /^@?set pathext=%pathext:;\.js;=;%$/i,
  /^\)(?: else \()?$/i,
];
/** Variables, program (absent: the target), options, target beside the shim, all arguments. */
const CALL =
  /^(?:endlocal & goto #_undefined_# 2>nul \|\| title %comspec% & )?("%_prog%"|"%~dp0\\node\.exe"|node)?((?:\s+--?[\w=:.-]+)*)\s*"(?:%dp0%|%~dp0)\\([^"%*?<>|]+)"\s+%\*$/i;

/** Returns the target of a shim of npm, pnpm or Yarn; undefined if a line does anything else. */
export function shimTarget(path: string, text: string): ShimTarget | undefined {
  let target: ShimTarget | undefined;
  for (const line of text.split(/\r?\n/)) {
    const trimmed = line.trim();
    if (trimmed === '' || AROUND_THE_CALL.some((known) => known.test(trimmed))) continue;
    const [, program, options = '', relative] = CALL.exec(trimmed) ?? [];
    if (relative === undefined) return undefined;
    const call: ShimTarget = {
      file: win32.resolve(win32.dirname(path), relative),
      isScript: program !== undefined,
      nodeArgs: options.split(/\s+/).filter((option) => option !== ''),
    };
    // Older shims have two calls: with the Node.js beside them, and with the one on PATH.
    if (target !== undefined && JSON.stringify(target) !== JSON.stringify(call)) return undefined;
    target = call;
  }
  if (target === undefined) return undefined;
  const isProgram = /\.(?:exe|com)$/i.test(target.file);
  return target.isScript ? target : isProgram && target.nodeArgs.length === 0 ? target : undefined;
}

const notExecutable = (): Localizable => localizable("the system doesn't allow running it");
const tooLong = (): Localizable => localizable('its arguments and environment are too long');
const tooManyFiles = (): Localizable => localizable('too many files are open');

const REASONS: Readonly<Record<string, () => Localizable>> = {
  EACCES: notExecutable,
  EPERM: notExecutable,
  ENOEXEC: () => localizable("it isn't a program for this system"),
  EBADARCH: () => localizable("it isn't a program for this processor"),
  ELOOP: () => localizable('its path contains a link loop'),
  E2BIG: tooLong,
  ENAMETOOLONG: tooLong,
  EAGAIN: () => localizable("this machine can't run more processes"),
  ENOMEM: () => localizable('this machine is out of memory'),
  EMFILE: tooManyFiles,
  ENFILE: tooManyFiles,
  ETXTBSY: () => localizable('its file is being written'),
  ERR_INVALID_ARG_VALUE: () => localizable('an argument or a variable contains an invalid character'),
};

export async function spawnError(error: unknown, command: string): Promise<ParleyError> {
  if (error instanceof ParleyError) return error;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  const reason = code === 'ENOENT' ? await explainMissing(command) : (REASONS[code]?.() ?? messageOf(error));
  return new ParleyError('agent-spawn-failed', localizable("Couldn't start {0}: {1}.", command, reason), {
    hint: localizable('Check the agent in the setting parley.agents, and try the command in a terminal.'),
    cause: error,
  });
}

/** Usually a script's interpreter is missing. */
async function explainMissing(command: string): Promise<Localizable> {
  const file = await open(command).catch(() => undefined);
  if (!file) return localizable("it doesn't exist");
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(256), position: 0 });
    const interpreter = /^#!\s*(.+)/.exec(buffer.toString('utf8', 0, bytesRead))?.[1]?.trim();
    return interpreter
      ? localizable("the interpreter in its first line, {0}, doesn't exist", interpreter)
      : localizable("a file that it requires doesn't exist");
  } finally {
    await file.close();
  }
}

export function withUmask<T>(umask: number | undefined, start: () => T): T {
  if (umask === undefined) return start();
  const own = process.umask(umask);
  try {
    return start();
  } finally {
    process.umask(own);
  }
}
