// The command that a call runs, and the terminal in which it does.
import type { SessionState, Terminal, ToolEntry } from '../../session/model/state';
import { rawCommandsIn } from '../rules/rawCommands';

/** Returns a call's command lines; undefined if only its title is known. */
export function commandLineOf(entry: ToolEntry, state: Readonly<SessionState>): string | undefined {
  const running = terminalOf(entry, state)?.command;
  if (running !== undefined) return running;
  const { commands } = rawCommandsIn(entry.rawInput);
  return commands.length === 0 ? undefined : commands.map(({ line }) => line).join('\n');
}

export function terminalOf({ content }: ToolEntry, { terminals }: Readonly<SessionState>): Terminal | undefined {
  const part = content.find(({ type }) => type === 'terminal');
  return part?.type === 'terminal' ? terminals.get(part.terminalId) : undefined;
}
