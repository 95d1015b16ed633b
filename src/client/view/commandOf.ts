// The command that a call runs, and the terminal in which it does.
import { at } from '../../base/untrusted';
import type { SessionState, Terminal, ToolEntry } from '../../session/model/state';

/** Returns the command line of a call; undefined where only its title is known. */
export function commandLineOf(entry: ToolEntry, state: Readonly<SessionState>): string | undefined {
  const given = at(entry.rawInput, 'command');
  return terminalOf(entry, state)?.command ?? (typeof given === 'string' ? given : undefined);
}

/** Returns the terminal of a call. */
export function terminalOf({ content }: ToolEntry, { terminals }: Readonly<SessionState>): Terminal | undefined {
  const part = content.find(({ type }) => type === 'terminal');
  return part?.type === 'terminal' ? terminals.get(part.terminalId) : undefined;
}
