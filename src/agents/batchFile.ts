// Batch files (.cmd, .bat) of Windows, as text: the command line that starts one, and what the shims
// of package managers call. Pure.
import { win32 } from 'node:path';
import { ParleyError } from '../base/errors';
import { localizable } from '../base/localizable';

/**
 * Neither cmd.exe nor a batch file that hands on `%*` gives these a meaning outside quotes. `,`,
 * `;` and `=` separate arguments there.
 */
const PLAIN = /^[\w#$+\-./:@\\]+$/;
/** cmd.exe expands variables between percent signs even in quotes, and a line ends at a break. */
const UNSAFE = /[%\r\n\0]/;

/**
 * The line after `cmd.exe /s /c` that starts a batch file, in the quotes that `/s` takes off.
 *
 * A batch file hands its arguments on as text (`%*`), so cmd.exe reads them twice or more often.
 * Carets would have to be doubled for each reading. Quotes hold for all of them, as a quote in an
 * argument is written as two, which leave cmd.exe in quotes and which programs read as one.
 * @param command the absolute path of a batch file, or a command of cmd.exe itself
 * @throws ParleyError `agent-spawn-failed` where a text cannot be passed as it is
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
  // Programs take backslashes before a quote as an escape of it, so these are doubled.
  return `"${word.replace(/(\\*)("|$)/g, (_, slashes: string, end: string) => slashes + slashes + end + end)}"`;
}

/** What a shim calls. */
export interface ShimTarget {
  /** Absolute: a script for Node.js, or an .exe. */
  readonly file: string;
  readonly isScript: boolean;
  /** Options for Node.js, before the script. */
  readonly nodeArgs: readonly string[];
}

/** Lines of shims that only find Node.js. */
const AROUND_THE_CALL = [
  /^@?(?:echo off|setlocal)$/i,
  /^(?:goto start|exit \/b|call :find_dp0|:find_dp0|:start)$/i,
  /^set dp0=%~dp0$/i,
  /^@?if exist "(?:%dp0%|%~dp0)\\node\.exe" \($/i,
  /^set "_prog=(?:%dp0%\\node\.exe|node)"$/i,
  /^@?set pathext=%pathext:;\.js;=;%$/i,
  /^\)(?: else \()?$/i,
];
/**
 * The call: what ends the shim's own variables, the program (absent: the target is one), options,
 * the target beside the shim, and all arguments.
 */
const CALL =
  /^(?:endlocal & goto #_undefined_# 2>nul \|\| title %comspec% & )?("%_prog%"|"%~dp0\\node\.exe"|node)?((?:\s+--?[\w=:.-]+)*)\s*"(?:%dp0%|%~dp0)\\([^"%*?<>|]+)"\s+%\*$/i;

/**
 * What a shim of npm, pnpm or Yarn calls; undefined for any other batch file, and where a line does
 * more than that.
 * @param path of the shim, absolute @param text what is in it
 */
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
    // Older shims have the call twice: with the Node.js beside them, and with that of PATH.
    if (target !== undefined && JSON.stringify(target) !== JSON.stringify(call)) return undefined;
    target = call;
  }
  if (target === undefined) return undefined;
  const isProgram = /\.(?:exe|com)$/i.test(target.file);
  return target.isScript ? target : isProgram && target.nodeArgs.length === 0 ? target : undefined;
}
