// Ends the commands that a turn leaves running when the user stops it, and says where the agent runs
// on regardless.
import { type Disposable, DisposableStore } from '../../base/disposable';
import type { SessionEvent } from '../../session/events/event';
import { ownText } from '../../session/events/ownText';
import type { SessionView } from '../../session/model/model';
import type { ToolEntry, Turn } from '../../session/model/state';
import type { Schedule } from '../ports/grace';
import type { Terminals } from '../terminals/terminals';

/** Time for the agent to end its commands itself, and for output on its way, in milliseconds. */
const GRACE_MS = 1000;

interface StoppingConversation {
  readonly agent: { readonly name: string };
  readonly model: SessionView;
  readonly recorder: { readonly apply: (event: SessionEvent) => void };
  readonly services: { readonly terminals: Pick<Terminals, 'isRunning' | 'stop'> };
}

export class StoppedTurns implements Disposable {
  readonly #conversation: StoppingConversation;
  readonly #schedule: Schedule;
  readonly #waiting = new DisposableStore();
  /** The stopped turn after its grace, until the user was told that it still runs. */
  #over: string | undefined;

  constructor(conversation: StoppingConversation, schedule: Schedule) {
    this.#conversation = conversation;
    this.#schedule = schedule;
  }

  dispose(): void {
    this.#waiting.dispose();
  }

  happened(event: SessionEvent): void {
    const { model } = this.#conversation;
    if (event.type === 'turn_started') this.#over = undefined;
    else if (event.type === 'turn_ended') {
      const turn = model.turn(event.turnId);
      if (turn?.cancelRequested) this.#waiting.add(this.#schedule(() => this.#endTerminals(turn), GRACE_MS));
    } else if (event.type === 'terminal' && event.command !== undefined && this.#isOfStopped(event.terminalId))
      this.#waiting.add(this.#schedule(() => this.#end(event.terminalId), GRACE_MS));
    else if (this.#over !== undefined && this.#goesOn(event, this.#over)) this.#tell();
  }

  #endTerminals({ id }: Readonly<Turn>): void {
    const { state } = this.#conversation.model;
    if (state.turns.at(-1)?.id === id) this.#over = id;
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
   * Returns whether a command begins, or is attached, although its turn was stopped: the request
   * was on its way, or the window was reloaded.
   */
  #isOfStopped(terminalId: string): boolean {
    const { model } = this.#conversation;
    const { state } = model;
    const turnId = state.terminals.get(terminalId)?.turnId;
    if (turnId === undefined && state.turn) return false;
    const stopped = turnId === undefined ? state.turns.at(-1) : model.turn(turnId);
    return stopped?.cancelRequested === true && stopped.endedAt !== undefined;
  }

  /** Ids of announced background work, and of its terminals. */
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

  /** Returns whether an event is output of a command in the turn that the client doesn't run. */
  #goesOn(event: SessionEvent, turnId: string): boolean {
    const { model, services } = this.#conversation;
    const { terminals } = services;
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
    const { agent, recorder } = this.#conversation;
    const said = ownText('still-running', agent.name);
    recorder.apply({ type: 'notice', severity: 'warning', title: '', said, own: true, action: { id: 'restart' } });
  }
}
