// Ends the commands that a turn leaves running when the user stops it, and says where the agent runs
// on regardless.
import { type Disposable, DisposableStore } from '../../base/disposable';
import type { SessionEvent } from '../../session/events/event';
import { ownText } from '../../session/events/ownText';
import type { SessionView } from '../../session/model/model';
import type { ToolEntry, Turn } from '../../session/model/state';
import type { Schedule } from '../ports/grace';
import type { Terminals } from '../terminals/terminals';

/** Time for the agent to end its commands itself, and for output that was on its way, in ms. */
const GRACE_MS = 1000;

export interface StoppedTurnsOptions {
  readonly terminals: Pick<Terminals, 'isRunning' | 'stop'>;
  readonly model: SessionView;
  readonly agentName: () => string;
  readonly apply: (event: SessionEvent) => void;
  readonly schedule: Schedule;
}

export class StoppedTurns implements Disposable {
  readonly #options: StoppedTurnsOptions;
  readonly #waiting = new DisposableStore();
  /** The stopped turn whose grace is over, until the user was told that it goes on. */
  #over: string | undefined;

  constructor(options: StoppedTurnsOptions) {
    this.#options = options;
  }

  dispose(): void {
    this.#waiting.dispose();
  }

  /** Call with each event after it was applied. */
  happened(event: SessionEvent): void {
    const { model, schedule } = this.#options;
    if (event.type === 'turn_started') this.#over = undefined;
    else if (event.type === 'turn_ended') {
      const turn = model.turn(event.turnId);
      if (turn?.cancelRequested) this.#waiting.add(schedule(() => this.#endTerminals(turn), GRACE_MS));
    } else if (this.#over !== undefined && this.#goesOn(event, this.#over)) this.#tell();
  }

  #endTerminals({ id }: Readonly<Turn>): void {
    const { terminals, model, apply } = this.#options;
    const { state } = model;
    if (state.turns.at(-1)?.id === id) this.#over = id;
    const background = this.#background();
    for (const terminal of state.terminals.values()) {
      if (terminal.turnId !== id || background.has(terminal.id) || !terminals.isRunning(terminal.id)) continue;
      apply({ type: 'terminal', terminalId: terminal.id, isStopped: true });
      void terminals.stop(terminal.id);
    }
  }

  /** The ids of work that the agent has announced to go on after its turn, and of its terminals. */
  #background(): ReadonlySet<string> {
    const { background, entries, nests } = this.#options.model.state;
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

  /** Returns whether an event is output of a command of the turn that the client does not run. */
  #goesOn(event: SessionEvent, turnId: string): boolean {
    const { model, terminals } = this.#options;
    const { terminals: known, entries } = model.state;
    if (event.type === 'terminal') {
      const { terminalId: id, append } = event;
      const isOfTurn = known.get(id)?.turnId === turnId && !known.get(id)?.isStopped;
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

  #tell(): void {
    this.#over = undefined;
    const said = ownText('still-running', this.#options.agentName());
    this.#options.apply({ type: 'notice', severity: 'warning', title: '', said, own: true, action: { id: 'restart' } });
  }
}
