// The session model: events in, state and recorded changes out. Deterministic, without clock, I/O
// or randomness. The cost of an event does not depend on the length of the session.

import { type Disposable, toDisposable } from '../../base/disposable';
import { grown, head, tail } from '../../base/text';
import {
  boundBlock,
  MAX_ALL_TERMINAL_CHARS,
  MAX_LIST,
  MAX_TERMINAL_CHARS,
  MAX_TOOL_TEXT,
  SHORT_TERMINAL_CHARS,
} from '../events/bounds';
import type { EventOf, Mark, RestoredEvent, SessionEvent, TimedEvent } from '../events/event';
import { ownText } from '../events/ownText';
import type { Changes, SessionPart } from './changes';
import { applyChoices, applyPromptSent, applyTitle } from './choices';
import { clear, currentTurn, ModelContext, shiftIndexes, upsert } from './context';
import { addGap, addGaps, fillGaps } from './gaps';
import { addMessageChunk, addPrompt, appendText, linkPrompt, setMessage } from './messages';
import { addNotice, applyCompaction, applyElicitation } from './notices';
import { idOf, renewIds } from './renewedIds';
import type { Entry, PlanRecord, SessionState, Terminal, Turn } from './state';
import { applySubagent } from './subagents';
import { addToolContent, adoptTerminal, applyTool, cancelTool, noteDecision } from './tools';
import {
  beginReplayedTurn,
  endReplayedTurn,
  endTurn,
  fixReason,
  noteChanges,
  noteTurn,
  requestCancel,
  startTurn,
} from './turns';
import { beginWait, endWait } from './waits';

export type SessionView = Pick<SessionModel, 'state' | 'begins' | 'turn' | 'toolIndex' | 'planIndex' | 'observe'>;

export class SessionModel {
  readonly #readers = new Set<Changes>();
  readonly #context = new ModelContext(this.#readers);
  /** Set while the entries before `from` are being read; `since` are the events applied since. */
  #partial: { readonly from: number; shown: number; readonly since: TimedEvent[] } | undefined;

  get state(): Readonly<SessionState> {
    return this.#context.state;
  }

  /**
   * Creates a model that starts after existing entries and turns, which are still being read.
   * @param at of the next event, in ms since 1970
   */
  static after({ entries, turns, turn: running }: Mark, at: number): SessionModel {
    const model = new SessionModel();
    const { state } = model.#context;
    const gap = { kind: 'gap', at: 0, gapId: '', text: '', said: ownText('loading'), state: 'loading' } as const;
    const hidden: Entry = { ...gap, id: '', index: 0 };
    for (let index = 0; index < entries; index++)
      state.entries.push(index < entries - NEWEST ? hidden : { ...gap, id: `e${index}`, index });
    const turn = { origin: 'user', startedAt: 0, replayed: true, tools: 0, files: new Set<string>() } as const;
    for (let number = 1; number <= turns; number++) state.turns.push({ ...turn, id: '', number });
    if (running !== undefined) {
      const { replayed: _replayed, ...open } = turn;
      state.turn = { ...open, id: running, number: turns, startedAt: at, firstOutputAt: at, files: new Set() };
      state.turns[turns - 1] = state.turn;
      model.#context.turnsById.set(running, state.turn);
    }
    model.#partial = { from: entries, shown: Math.max(0, entries - NEWEST), since: [] };
    return model;
  }

  get begins(): number {
    return this.#partial?.from ?? 0;
  }

  complete(whole: SessionModel): void {
    const partial = this.#partial;
    if (!partial) return;
    this.#partial = undefined;
    for (const { at, event } of partial.since) whole.apply(event, at);
    const context = this.#context;
    const { state, push, note } = context;
    const entriesBefore = [...state.entries];
    const { entries } = whole.state;
    Object.assign(state, whole.state);
    Object.assign(context, whole.#context, { state, push, note });
    const first = partial.shown;
    const isSame =
      state.nests.isEmpty &&
      entriesBefore.length === entries.length &&
      entriesBefore.slice(first).every(({ id }, index) => entries[first + index]?.id === id);
    for (const reader of this.#readers) {
      if (!isSame) reader.clearedAll();
      else
        for (let index = firstChange(entriesBefore, entries, first); index < entries.length; index++)
          reader.entry(index);
      for (const part of PARTS_OF_STATE) reader.part(part);
    }
  }

  /** Call once the stored events have been applied: later events are not part of the reading. */
  beginLive(): void {
    const partial = this.#partial;
    if (!partial) return;
    partial.since.length = 0;
    partial.shown = Math.max(0, Math.min(partial.from, this.state.entries.length - NEWEST));
  }

  turn(id: string): Readonly<Turn> | undefined {
    return this.#context.turnsById.get(id);
  }

  toolIndex(toolCallId: string): number | undefined {
    return this.#context.tools.get(toolCallId);
  }

  get planIndex(): number | undefined {
    const indexes = [...this.#context.plans.values()];
    return this.#context.state.turn && indexes.length > 0 ? Math.max(...indexes) : undefined;
  }

  observe(changes: Changes): Disposable {
    this.#readers.add(changes);
    return toDisposable(() => this.#readers.delete(changes));
  }

  /**
   * Notifies readers of a change that is not an event: the connection, the queue or attachments.
   */
  touch(part: SessionPart): void {
    this.#context.note((changes) => changes.part(part));
  }

  touchTurn(turnId: string): void {
    const turn = this.#context.turnsById.get(turnId);
    if (turn) noteTurn(this.#context, turn);
  }

  touchTool(toolCallId: string): void {
    const index = this.toolIndex(toolCallId);
    if (index !== undefined) this.#context.note((changes) => changes.entry(index));
  }

  /**
   * Applies an event received at `at` (ms since 1970). Never throws: an invalid event is ignored.
   */
  apply(event: SessionEvent, at: number): void {
    this.#partial?.since.push({ at, event });
    const context = this.#context;
    const { state } = context;
    switch (event.type) {
      case 'message_chunk': {
        const block = boundBlock(event.block);
        addMessageChunk(context, block === event.block ? event : { ...event, block }, at);
        return;
      }
      case 'message_ended':
        context.wholeAt = state.entries.length;
        return;
      case 'message':
        setMessage(context, event, at);
        return;
      case 'prompt_sent':
        addPrompt(context, event, at);
        applyPromptSent(state);
        return;
      case 'prompt_inserted':
        linkPrompt(context, event);
        return;
      case 'tool_content':
        addToolContent(context, event, at);
        return;
      case 'tool_call':
        applyTool(context, event, at);
        return;
      case 'terminal':
        applyTerminal(context, event);
        return;
      case 'plan':
      case 'plan_document':
      case 'plan_removed':
        applyPlan(context, event, at);
        break;
      case 'subagent':
      case 'subagent_said':
      case 'subagent_did':
      case 'subagents_ended':
      case 'session_message':
        applySubagent(context, event, at);
        return;
      case 'notice':
      case 'unknown_update':
      case 'error':
        addNotice(context, event, at);
        return;
      case 'gap':
        addGap(context, event, at);
        return;
      case 'gaps':
        addGaps(context, event, at);
        return;
      case 'gap_filled':
        fillGaps(context, [event], entriesOf);
        return;
      case 'gaps_filled':
        fillGaps(context, event.fillings, entriesOf);
        return;
      case 'compaction':
        applyCompaction(context, event, at);
        return;
      case 'commands':
        state.commands = event.commands;
        break;
      case 'modes':
      case 'mode':
      case 'config':
      case 'choices':
        applyChoices(context, event);
        break;
      case 'usage': {
        // Claude reports the cost, and the context with it, only at the end of a turn.
        const { cost = state.usage?.cost } = event.usage;
        state.usage = { ...event.usage, used: Math.max(0, event.usage.used), ...(cost && { cost }) };
        const turn = state.turn ?? state.turns.at(-1);
        if (turn) turn.usage = state.usage;
        break;
      }
      case 'rate_limits': {
        const kinds = new Set(event.limits.map(({ kind }) => kind));
        const others = state.limits.filter(({ kind, state }) => state !== 'reached' && !kinds.has(kind));
        state.limits = [...event.limits, ...others].slice(0, MAX_LIMITS);
        break;
      }
      case 'prompt_suggestion':
        state.suggestion = event.text;
        break;
      case 'info':
        applyTitle(state, event);
        break;
      case 'permission_asked':
        beginWait(context, at);
        state.permissions.set(event.permissionId, {
          id: event.permissionId,
          title: event.title,
          options: event.options,
          at,
          toolCallId: event.toolCallId,
          description: event.description || undefined,
          command: event.command,
          ruleOffer: event.ruleOffer,
        });
        break;
      case 'permission_closed': {
        noteDecision(context, event);
        const asked = state.permissions.get(event.permissionId);
        state.permissions.delete(event.permissionId);
        if (asked) endWait(context, asked, at);
        break;
      }
      case 'elicitation_asked':
      case 'elicitation_opened':
      case 'elicitation_closed':
        applyElicitation(context, event, at);
        break;
      case 'background':
        state.background = event.work.slice(0, MAX_LIST);
        break;
      case 'agent_state':
        state.agentState = event.state;
        break;
      case 'turn_started':
        startTurn(context, event);
        break;
      case 'turn_ended':
        endTurn(context, event, at);
        break;
      case 'turn_reason':
        fixReason(context, event);
        break;
      case 'turn_changes':
        noteChanges(context, event);
        break;
      case 'cancel_requested':
        if (!requestCancel(context, event.turnId, at)) return;
        break;
      case 'ids_renewed':
        renewIds(context, event);
        return;
      case 'restored':
        applyRestored(context, event, entriesOf(event.events ?? [], at)[0], at);
        return;
      case 'replayed_turn':
        beginReplayedTurn(context, at, 'agent');
        return;
      case 'replayed_end':
        endReplayedTurn(context, event, at);
        return;
      case 'replay_resumed':
        if (!state.turn) state.replaying = true;
        return;
      case 'replay_ended':
        state.replaying = false;
        return;
      case 'cleared':
        clear(context);
        state.replaying = event.replay === true;
        return;
    }
    const part = PARTS[event.type];
    context.note((changes) => changes.part(part));
  }
}

const PARTS = {
  commands: 'commands',
  modes: 'modes',
  mode: 'modes',
  config: 'config',
  choices: 'config',
  usage: 'usage',
  rate_limits: 'limits',
  info: 'info',
  plan: 'plan',
  plan_document: 'plan',
  plan_removed: 'plan',
  permission_asked: 'permissions',
  permission_closed: 'permissions',
  elicitation_asked: 'elicitations',
  elicitation_opened: 'elicitations',
  elicitation_closed: 'elicitations',
  background: 'background',
  agent_state: 'turn',
  prompt_suggestion: 'turn',
  turn_started: 'turn',
  turn_ended: 'turn',
  turn_reason: 'turn',
  turn_changes: 'turn',
  cancel_requested: 'turn',
} as const satisfies Partial<Record<SessionEvent['type'], SessionPart>>;

const PARTS_OF_STATE: ReadonlySet<SessionPart> = new Set(Object.values(PARTS));
const NEWEST = 64;
const MAX_LIMITS = 10;

function firstChange(shown: readonly Entry[], entries: readonly Entry[], first: number): number {
  for (let index = first; index < entries.length; index++) {
    if (!isAlike(shown[index], entries[index])) return index;
  }
  return entries.length;
}

/**
 * Returns whether two versions of an entry look the same, compared by the fields that can differ.
 */
function isAlike(a: Entry | undefined, b: Entry | undefined): boolean {
  if (a?.kind !== b?.kind || a?.turnId !== b?.turnId) return false;
  if (a?.kind === 'tool' && b?.kind === 'tool')
    return a.status === b.status && a.title === b.title && a.content.length === b.content.length;
  return !(a && b && 'until' in a && 'until' in b) || a.until === b.until;
}

function entriesOf(events: readonly SessionEvent[], at: number): readonly Entry[] {
  const model = new SessionModel();
  for (const event of events) model.apply(event, at);
  return model.state.entries;
}

/** Inserts what a replay has and the transcript lacks, at its position. */
export function applyRestored(
  context: ModelContext,
  { entryId, text, events }: EventOf<'restored'>,
  made: Entry | undefined,
  at: number,
): void {
  const { entries } = context.state;
  const anchor = entries.findLast(({ id }) => id === entryId);
  if (!anchor) return;
  if (text !== undefined && (anchor.kind === 'agent' || anchor.kind === 'thought'))
    appendText(context, anchor, text, at);
  if (!made) return;
  let index = anchor.index + 1;
  while (entries[index]?.id.startsWith(`${anchor.id}.`)) index++;
  const { turnId } = anchor;
  const entry: Entry = {
    ...made,
    // Unique, as the number of entries only grows.
    id: `${anchor.id}.${entries.length}`,
    index,
    ...(turnId !== undefined && { turnId }),
    ...(anchor.late && { late: true as const }),
  };
  shiftIndexes(context, index, 1);
  entries.splice(index, 0, entry);
  register(context, entry, events ?? [], at);
  context.note((changes) => (index === entries.length - 1 ? changes.entry(index) : changes.clearedAll()));
}

function register(context: ModelContext, entry: Entry, events: readonly RestoredEvent[], at: number): void {
  if (entry.kind === 'tool') {
    context.tools.set(entry.toolCallId, entry.index);
    for (const event of events) if (event.type === 'tool_call') applyTool(context, { ...event, announced: false }, at);
    const turn = entry.turnId === undefined ? undefined : context.turnsById.get(entry.turnId);
    if (!turn) return;
    // The agent repeats the call's status during the turn, which has since ended.
    if (turn.endedAt !== undefined) cancelTool(context, entry, at);
    turn.tools++;
    for (const part of entry.content)
      if (part.type === 'diff' && entry.status === 'completed') turn.files.add(part.path);
    return;
  }
  if (entry.kind === 'plan') context.plans.set(entry.planId, entry.index);
  const id = idOf(entry);
  if (id !== undefined) context.messages.set(id, entry.index);
}

type PlanEvent = EventOf<'plan' | 'plan_document' | 'plan_removed'>;

export function applyPlan(context: ModelContext, event: PlanEvent, at: number): void {
  const { planId } = event;
  if (event.type === 'plan_removed') {
    const entry = context.state.entries[context.plans.get(planId) ?? -1];
    if (entry?.kind !== 'plan' || entry.removed) return;
    entry.removed = true;
    // The agent may reuse the id for another plan.
    context.plans.delete(planId);
    context.note((changes) => changes.entry(entry.index));
    return;
  }
  const content = contentOf(event);
  upsert(
    context,
    context.plans,
    planId,
    at,
    (base) => ({ ...base, kind: 'plan', planId, ...content }),
    (entry) => {
      if (entry.kind !== 'plan') return;
      delete entry.markdown;
      delete entry.uri;
      Object.assign(entry, content);
    },
  );
}

function contentOf(
  event: Exclude<PlanEvent, { type: 'plan_removed' }>,
): Pick<PlanRecord, 'entries' | 'markdown' | 'uri'> {
  if (event.type === 'plan') return { entries: event.entries.slice(0, MAX_LIST) };
  const { document: said } = event;
  return said.type === 'file'
    ? { entries: [], uri: said.uri }
    : { entries: [], markdown: head(said.text, MAX_TOOL_TEXT), ...(said.path !== undefined && { uri: said.path }) };
}

const MAX_TERMINALS = 500;

export function applyTerminal(context: ModelContext, event: EventOf<'terminal'>): void {
  const terminal = terminalOf(context, event.terminalId);
  let redraw = false;
  const before = terminal.output.length;
  if (event.command !== undefined) terminal.command = event.command;
  if (event.cwd !== undefined) terminal.cwd = event.cwd;
  if (event.output !== undefined) {
    terminal.output = tail(event.output, MAX_TERMINAL_CHARS);
    terminal.truncated = event.truncated === true || event.output.length > MAX_TERMINAL_CHARS;
    redraw = true;
  } else if (event.append) {
    const full = grown(terminal.output, event.append);
    // Trimming on every append would copy a megabyte, so let the output grow by a quarter first.
    const output = full.length > MAX_TERMINAL_CHARS * 1.25 ? tail(full, MAX_TERMINAL_CHARS) : full;
    if (output.length < full.length) terminal.truncated = true;
    terminal.output = output;
    const { append } = event;
    context.note((changes) => changes.terminal(terminal.id, append));
  }
  context.terminalChars += terminal.output.length - before;
  if (context.terminalChars > MAX_ALL_TERMINAL_CHARS) shortenTerminals(context);
  if (event.exit === null && terminal.exit) {
    delete terminal.exit;
    redraw = true;
  }
  if (event.exit && !terminal.exit) {
    terminal.exit = event.exit;
    redraw = true;
  }
  if (event.released) terminal.released = true;
  if (event.isStopped && !terminal.exit) {
    terminal.isStopped = true;
    redraw = true;
  }
  if (event.toolCallId !== undefined) adoptTerminal(context, event.toolCallId, terminal.id);
  if (event.canCancel !== undefined) terminal.canCancel = event.canCancel;
  if (redraw)
    for (const index of context.terminalShownIn.get(terminal.id) ?? []) context.note((changes) => changes.entry(index));
}

function shortenTerminals(context: ModelContext): void {
  for (const terminal of context.state.terminals.values()) {
    if (context.terminalChars <= MAX_ALL_TERMINAL_CHARS) return;
    const { length } = terminal.output;
    // Shortening on every append would copy the output, so wait until it has doubled.
    if (length <= 2 * SHORT_TERMINAL_CHARS) continue;
    terminal.output = tail(terminal.output, SHORT_TERMINAL_CHARS);
    terminal.truncated = true;
    context.terminalChars -= length - terminal.output.length;
  }
}

function terminalOf(context: ModelContext, id: string): Terminal {
  const { terminals } = context.state;
  const known = terminals.get(id);
  if (known) return known;
  if (terminals.size >= MAX_TERMINALS) {
    for (const [old, terminal] of terminals) {
      if (!terminal.exit && !terminal.released) continue;
      terminals.delete(old);
      context.terminalChars -= terminal.output.length;
      break;
    }
  }
  const turn = currentTurn(context.state);
  const terminal: Terminal = { id, output: '', truncated: false, turnId: turn?.id };
  terminals.set(id, terminal);
  return terminal;
}
