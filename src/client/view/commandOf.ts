// The command that a call runs, and the terminal in which it does.
import { at } from '../../base/untrusted';
import type { SessionState, Terminal, ToolEntry } from '../../session/model/state';

/** Returns the command line of a call; undefined where only its title is known. */
export function commandLineOf(entry: ToolEntry, state: Readonly<SessionState>): string | undefined {
  const given = at(entry.rawInput, 'command');
  return terminalOf(entry, state)?.command ?? (typeof given === 'string' ? given : undefined);
}

/** What the input of a call says, if that is a command and what it is for. */
export interface PlainCommand {
  readonly line: string;
  readonly cwd?: string;
  readonly description?: string;
}

/** Returns the command of a call whose input says nothing else; undefined if it may, or is not known. */
export function plainCommandOf({ toolKind, rawInput }: ToolEntry): PlainCommand | undefined {
  if (toolKind !== 'execute' || typeof rawInput !== 'object' || rawInput === null) return undefined;
  const { command, cwd, description, timeout = 0, ...others } = rawInput as Readonly<Record<string, unknown>>;
  if (typeof command !== 'string' || typeof timeout !== 'number' || Object.keys(others).length > 0) return undefined;
  if (!isTextIfAny(cwd) || !isTextIfAny(description)) return undefined;
  return { line: command, ...(cwd && { cwd }), ...(description && { description }) };
}

function isTextIfAny(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

/** Returns the terminal of a call. */
export function terminalOf({ content }: ToolEntry, { terminals }: Readonly<SessionState>): Terminal | undefined {
  const part = content.find(({ type }) => type === 'terminal');
  return part?.type === 'terminal' ? terminals.get(part.terminalId) : undefined;
}
