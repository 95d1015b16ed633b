// Brings the terminals that an agent runs in this client into its session's model, and each of them
// into an entry of the transcript: no output is invisible.
import { type Disposable, DisposableStore } from '../../base/disposable';
import type { SessionEvent } from '../../session/events/event';
import type { SessionView } from '../../session/model/model';
import type { Terminal } from '../../session/model/state';
import { later, type Schedule } from '../ports/grace';
import type { Terminals } from '../terminals/terminals';
import { callOfTerminal } from './callOfTerminal';
import type { Recorder } from './recorder';
import { StoppedTurns } from './stoppedTurns';

/** Time for the agent to name the call of a terminal before it gets an entry of its own, in ms. */
const NAMED_WITHIN_MS = 1000;

type Source = Pick<Terminals, 'onDidCreate' | 'onDidChange' | 'isRunning' | 'stop'>;

/**
 * Applies what happens to the terminals of one session, and ends those of turns that the user stops.
 * @param key the session that owns them, as it was given to `create`.
 */
export function followTerminals(
  terminals: Source,
  key: string,
  model: SessionView,
  { apply, onDidApply }: Pick<Recorder, 'apply' | 'onDidApply'>,
  agentName: () => string,
  schedule: Schedule = later,
): Disposable {
  const own = new Set<string>();
  const following = new DisposableStore();
  const stopped = new StoppedTurns({ terminals, model, agentName, apply, schedule });
  following.add(stopped);
  following.add(onDidApply((event) => stopped.happened(event)));
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
      if (released) own.delete(terminalId); // nothing comes after it
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

/** Adds an entry for a terminal that no call shows. */
function addEntry(model: SessionView, terminalId: string, apply: (event: SessionEvent) => void): void {
  const { entries, terminals } = model.state;
  const terminal = terminals.get(terminalId);
  const isShown = entries.some(
    (entry) =>
      entry.kind === 'tool' && entry.content.some((part) => part.type === 'terminal' && part.terminalId === terminalId),
  );
  if (terminal && !isShown) apply(updateOf(terminal, true));
}

/** The id of the entry of a terminal; no call of an agent has one like it. */
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
