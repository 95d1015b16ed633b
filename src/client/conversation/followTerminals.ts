// Adds the terminals that an agent runs in this client to the model and to entries of the
// transcript, so that all output is visible.
import { type Disposable, DisposableStore } from '../../base/disposable';
import type { SessionEvent } from '../../session/events/event';
import { ownText } from '../../session/events/ownText';
import type { SessionView } from '../../session/model/model';
import type { SessionState, Terminal, ToolEntry, Turn } from '../../session/model/state';
import { isEnded } from '../../session/model/tools';
import { later, type Schedule } from '../ports/grace';
import { rawCommandsIn } from '../rules/rawCommands';
import type { Terminals } from '../terminals/terminals';
import type { Recorder } from './recorder';

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
  const createdTerminals = new Set<string>();
  const following = new DisposableStore();
  const stopped = new StoppedTurns(conversation, schedule);
  following.add(stopped);
  following.add(recorder.onDidApply((event) => stopped.happened(event)));
  following.add(
    terminals.onDidCreate(({ sessionId, terminalId, command, cwd }) => {
      if (sessionId !== key) return;
      createdTerminals.add(terminalId);
      const call = model.state.terminals.has(terminalId) ? undefined : callOfTerminal(model.state, command);
      const toolCallId = call && { toolCallId: call.toolCallId };
      apply({ type: 'terminal', terminalId, command, cwd, ...toolCallId });
      if (!call) following.add(schedule(() => addEntry(model, terminalId, apply), NAMED_WITHIN_MS));
    }),
  );
  following.add(
    terminals.onDidChange(({ terminalId, append, exit, released }) => {
      if (!createdTerminals.has(terminalId)) return;
      if (released) createdTerminals.delete(terminalId);
      apply({ type: 'terminal', terminalId, append: append || undefined, exit, released });
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
 * Returns the call of a terminal that the agent hasn't assigned: the open call whose command is in
 * the terminal's command line, else the only open call that runs commands.
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

/** In `ls -la`, both `ls` and `ls -la` match; only the longer one is the command. */
function longest(calls: readonly ToolEntry[]): ToolEntry[] {
  const lengths = calls.map((call) => Math.max(...commandsOf(call).map(({ length }) => length)));
  const most = Math.max(...lengths);
  return calls.filter((_, index) => lengths[index] === most);
}

function commandsOf({ rawInput }: ToolEntry): readonly string[] {
  return rawCommandsIn(rawInput).commands.map(({ line }) => line.trim());
}

/** Time for the agent to end its commands itself, and for pending output. */
const GRACE_MS = 1000;

interface StoppingConversation {
  readonly agent: { readonly name: string };
  readonly model: SessionView;
  readonly recorder: { readonly apply: (event: SessionEvent) => void };
  readonly services: { readonly terminals: Pick<Terminals, 'isRunning' | 'stop'> };
}

/**
 * Ends commands that are still running after a turn was stopped, and warns if the agent keeps
 * running its own.
 */
class StoppedTurns implements Disposable {
  readonly #conversation: StoppingConversation;
  readonly #schedule: Schedule;
  readonly #timers = new DisposableStore();
  /** The stopped turn after its grace, until a notice says that its commands still run. */
  #overdueTurn: string | undefined;

  constructor(conversation: StoppingConversation, schedule: Schedule) {
    this.#conversation = conversation;
    this.#schedule = schedule;
  }

  dispose(): void {
    this.#timers.dispose();
  }

  happened(event: SessionEvent): void {
    const { model } = this.#conversation;
    if (event.type === 'turn_started') this.#overdueTurn = undefined;
    else if (event.type === 'turn_ended') {
      const turn = model.turn(event.turnId);
      if (turn?.cancelRequested) this.#timers.add(this.#schedule(() => this.#endTerminals(turn), GRACE_MS));
    } else if (event.type === 'terminal' && event.command !== undefined && this.#startsAfterStop(event.terminalId))
      this.#timers.add(this.#schedule(() => this.#end(event.terminalId), GRACE_MS));
    else if (this.#overdueTurn !== undefined && this.#isAgentOutput(event, this.#overdueTurn)) this.#warn();
  }

  #endTerminals({ id }: Readonly<Turn>): void {
    const { state } = this.#conversation.model;
    if (state.turns.at(-1)?.id === id) this.#overdueTurn = id;
    for (const terminal of state.terminals.values()) if (terminal.turnId === id) this.#end(terminal.id);
  }

  #end(terminalId: string): void {
    const { recorder, services } = this.#conversation;
    const { terminals } = services;
    if (!terminals.isRunning(terminalId) || this.#background().has(terminalId)) return;
    recorder.apply({ type: 'terminal', terminalId, isStopped: true });
    void terminals.stop(terminalId);
  }

  /**
   * Returns whether a command starts or is attached after its turn was stopped: its request was on
   * the way, or the window was reloaded.
   */
  #startsAfterStop(terminalId: string): boolean {
    const { model } = this.#conversation;
    const { state } = model;
    const turnId = state.terminals.get(terminalId)?.turnId;
    if (turnId === undefined && state.turn) return false;
    const stopped = turnId === undefined ? state.turns.at(-1) : model.turn(turnId);
    return stopped?.cancelRequested === true && stopped.endedAt !== undefined;
  }

  #background(): ReadonlySet<string> {
    const { background, entries, nests } = this.#conversation.model.state;
    const ids = new Set(background.map(({ id }) => id));
    const isBackground = (entry: ToolEntry): boolean =>
      ids.has(entry.toolCallId) || (entry.subagentId !== undefined && ids.has(entry.subagentId));
    if (ids.size === 0) return ids;
    for (const entry of entries) {
      if (entry.kind !== 'tool' || ![entry, ...nests.pathOf(entry)].some(isBackground)) continue;
      ids.add(entry.toolCallId);
      for (const part of entry.content) if (part.type === 'terminal') ids.add(part.terminalId);
    }
    return ids;
  }

  /** Returns whether an event is output of a command that the agent runs itself in the turn. */
  #isAgentOutput(event: SessionEvent, turnId: string): boolean {
    const { model, services } = this.#conversation;
    const { terminals } = services;
    const { terminals: terminalStates, entries } = model.state;
    if (event.type === 'terminal') {
      const { terminalId: id, append } = event;
      const isOfTurn = terminalStates.get(id)?.turnId === turnId && !terminalStates.get(id)?.isStopped;
      return append !== undefined && isOfTurn && !terminals.isRunning(id) && !this.#background().has(id);
    }
    if (event.type !== 'tool_content' && event.type !== 'tool_call') return false;
    const entry = entries[model.toolIndex(event.toolCallId) ?? -1];
    if (entry?.kind !== 'tool' || entry.toolKind !== 'execute' || entry.turnId !== turnId || entry.late) return false;
    if (this.#background().has(entry.toolCallId)) return false;
    if (event.type === 'tool_content') return true;
    const { status, content, rawOutput } = event.patch;
    return (status == null || status === 'in_progress') && (content ?? rawOutput) != null;
  }

  #warn(): void {
    this.#overdueTurn = undefined;
    const { agent, recorder } = this.#conversation;
    const text = ownText('still-running', agent.name);
    recorder.apply({
      type: 'notice',
      severity: 'warning',
      title: '',
      said: text,
      own: true,
      action: { id: 'restart' },
    });
  }
}
