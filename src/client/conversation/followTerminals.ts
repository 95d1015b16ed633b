// Brings the terminals that an agent runs in this client into its session's model, and each of them
// into an entry of the transcript: no output is invisible.
import { type Disposable, DisposableStore } from '../../base/disposable';
import type { SessionEvent } from '../../session/events/event';
import type { SessionView } from '../../session/model/model';
import type { SessionState, Terminal, ToolEntry } from '../../session/model/state';
import { isEnded } from '../../session/model/tools';
import { later, type Schedule } from '../ports/grace';
import { rawCommandsIn } from '../rules/rawCommands';
import type { Terminals } from '../terminals/terminals';
import type { Recorder } from './recorder';
import { StoppedTurns } from './stoppedTurns';

/** Time for the agent to name the call of a terminal, in milliseconds. */
const NAMED_WITHIN_MS = 1000;

interface RunningConversation {
  readonly key: string;
  readonly agent: { readonly name: string };
  readonly model: SessionView;
  readonly recorder: Pick<Recorder, 'apply' | 'onDidApply'>;
  readonly services: { readonly terminals: Pick<Terminals, 'onDidCreate' | 'onDidChange' | 'isRunning' | 'stop'> };
}

export function followTerminals(conversation: RunningConversation, schedule: Schedule = later): Disposable {
  const { key, model, recorder, services } = conversation;
  const { terminals } = services;
  const { apply } = recorder;
  const own = new Set<string>();
  const following = new DisposableStore();
  const stopped = new StoppedTurns(conversation, schedule);
  following.add(stopped);
  following.add(recorder.onDidApply((event) => stopped.happened(event)));
  following.add(
    terminals.onDidCreate(({ sessionId, terminalId, command, cwd }) => {
      if (sessionId !== key) return;
      own.add(terminalId);
      // A command of an earlier window is in the transcript.
      const call = model.state.terminals.has(terminalId) ? undefined : callOfTerminal(model.state, command);
      const toolCallId = call && { toolCallId: call.toolCallId };
      apply({ type: 'terminal', terminalId, command, cwd, ...toolCallId });
      if (!call) following.add(schedule(() => addEntry(model, terminalId, apply), NAMED_WITHIN_MS));
    }),
  );
  following.add(
    terminals.onDidChange(({ terminalId, append, exit, released }) => {
      if (!own.has(terminalId)) return;
      if (released) own.delete(terminalId);
      apply({
        type: 'terminal',
        terminalId,
        append: append || undefined,
        exit,
        released,
      });
      const terminal = model.state.terminals.get(terminalId);
      if (exit && terminal && model.toolIndex(entryOf(terminalId)) !== undefined) apply(updateOf(terminal, false));
    }),
  );
  return following;
}

function addEntry(model: SessionView, terminalId: string, apply: (event: SessionEvent) => void): void {
  const { entries, terminals } = model.state;
  const terminal = terminals.get(terminalId);
  const isShown = entries.some(
    (entry) =>
      entry.kind === 'tool' && entry.content.some((part) => part.type === 'terminal' && part.terminalId === terminalId),
  );
  if (terminal && !isShown) apply(updateOf(terminal, true));
}

/** No call of an agent has an id like this. */
function entryOf(terminalId: string): string {
  return `terminal ${terminalId}`;
}

function updateOf({ id, command = id, exit, released }: Terminal, announced: boolean): SessionEvent {
  const status = exit ? (exit.exitCode === 0 ? 'completed' : 'failed') : released ? 'completed' : 'in_progress';
  const shown = { title: command, kind: 'execute', content: [{ type: 'terminal', terminalId: id }] } as const;
  return {
    type: 'tool_call',
    toolCallId: entryOf(id),
    patch: { status, ...(announced && shown) },
    announced,
  };
}

/**
 * Returns the call for a terminal that the agent has named in no call: the open call whose command
 * is in the terminal's command line, else the only open call that runs commands.
 */
function callOfTerminal({ entries }: Pick<SessionState, 'entries'>, line: string): ToolEntry | undefined {
  const open = entries
    .slice(entries.findLastIndex(({ kind }) => kind === 'turn_end') + 1)
    .flatMap((entry) =>
      entry.kind === 'tool' && !isEnded(entry.status) && !entry.content.some(({ type }) => type === 'terminal')
        ? [entry]
        : [],
    );
  const named = open.filter((call) => commandsOf(call).some((command) => line.includes(command)));
  const running = open.filter(({ toolKind }) => toolKind === 'execute');
  const [only, ...others] = named.length > 0 ? longest(named) : running;
  return others.length === 0 ? only : undefined;
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
