// Finds the tool call for which an agent starts a terminal that it has named in no call. Pure.
import type { SessionState, ToolEntry } from '../../session/model/state';
import { isEnded } from '../../session/model/tools';
import { rawCommandsIn } from '../rules/rawCommands';

/**
 * Returns the open call whose command is in the terminal's command line, else the only open call that
 * runs commands; undefined if it may be one of several, or none.
 */
export function callOfTerminal({ entries }: Pick<SessionState, 'entries'>, line: string): ToolEntry | undefined {
  const open = openCalls(entries);
  const named = open.filter((call) => commandsOf(call).some((command) => line.includes(command)));
  const running = open.filter(({ toolKind }) => toolKind === 'execute');
  const [only, ...others] = named.length > 0 ? longest(named) : running;
  return others.length === 0 ? only : undefined;
}

/** Calls since the last end of a turn that have not ended and show no terminal. */
function openCalls(entries: SessionState['entries']): ToolEntry[] {
  const from = entries.findLastIndex(({ kind }) => kind === 'turn_end') + 1;
  return entries
    .slice(from)
    .flatMap((entry) =>
      entry.kind === 'tool' && !isEnded(entry.status) && !entry.content.some(({ type }) => type === 'terminal')
        ? [entry]
        : [],
    );
}

/** Of `ls` and `ls -la`, only the longer one is the command of `ls -la`. */
function longest(calls: readonly ToolEntry[]): ToolEntry[] {
  const lengths = calls.map((call) => Math.max(...commandsOf(call).map(({ length }) => length)));
  const most = Math.max(...lengths);
  return calls.filter((_, index) => lengths[index] === most);
}

function commandsOf({ rawInput }: ToolEntry): readonly string[] {
  return rawCommandsIn(rawInput).commands.map(({ line }) => line.trim());
}
