// The session state with the indexes that keep each event cheap, and the operations that keep both
// in step.

import { detached, roughSize } from '../../base/text';
import { contentSize, MAX_ALL_TOOL_CHARS, MAX_RAW_CHARS } from '../events/bounds';
import type { Changes } from './changes';
import { type Entry, type MessageEntry, SessionState, type ToolEntry, type Turn } from './state';

export interface PromptEcho {
  index: number;
  text: string;
  position: number;
}

export interface Subagent {
  index: number;
  title: string;
  description: string;
  said: string;
  saidId: string | undefined;
  did: string;
}

interface SessionMessage {
  sender: string | undefined;
  recipient: string | undefined;
  senderMessage: string | undefined;
  recipientMessage: string | undefined;
  text: string;
}

class SubagentIndex {
  readonly byId = new Map<string, Subagent>();
  readonly messages = new Map<string, SessionMessage>();

  messageKey(session: string | undefined, id: string): string {
    return `${session !== undefined && this.byId.has(session) ? session : ''} ${id}`;
  }

  clear(): void {
    this.byId.clear();
    this.messages.clear();
  }
}

export class ModelContext {
  readonly state = new SessionState();
  readonly messages = new Map<string, number>();
  readonly nestedMessages = new Map<string, MessageEntry>();
  readonly tools = new Map<string, number>();
  readonly plans = new Map<string, number>();
  readonly gaps = new Map<string, number>();
  readonly compactions = new Map<string, number>();
  readonly subagents = new SubagentIndex();
  readonly turnsById = new Map<string, Turn>();
  readonly openTools = new Set<number>();
  /** When the agent began to wait for an answer, in ms since 1970. */
  askedSince: number | undefined;
  readonly terminalShownIn = new Map<string, Set<number>>();
  terminalChars = 0;
  readonly toolSizes = new ToolSizes();
  wholeAt: number | undefined;
  renewedAt = 0;
  echo: PromptEcho | undefined;
  readonly prompts = new Map<string, PromptEcho>();
  readonly #readers: ReadonlySet<Changes>;

  constructor(readers: ReadonlySet<Changes>) {
    this.#readers = readers;
  }

  readonly push = (
    make: (base: { id: string; index: number; at: number; turnId?: string; late?: true }) => Entry,
    at: number,
  ): number => {
    const { state } = this;
    const index = state.entries.length;
    compactText(state.entries[index - 1]);
    const entry = make({ id: `e${index}`, index, at, ...turnOfNextEntry(state) });
    state.entries.push(entry);
    if (state.turn && entry.kind !== 'user') state.turn.firstOutputAt ??= at;
    for (const reader of this.#readers) reader.entry(index);
    return index;
  };

  readonly note = (apply: (changes: Changes) => void): void => {
    for (const reader of this.#readers) apply(reader);
  };
}

/**
 * Compacts the text of a message that is probably complete: its chunks take four times the memory.
 */
function compactText(entry: Entry | undefined): void {
  if (entry?.kind !== 'agent' && entry?.kind !== 'thought') return;
  const last = entry.content.at(-1);
  if (last?.type === 'text') entry.content[entry.content.length - 1] = { ...last, text: detached(last.text) };
}

/** Returns the turn fields of a new entry; after the end of a turn, entries are late ones of it. */
function turnOfNextEntry(state: SessionState): { turnId?: string; late?: true } {
  if (state.turn) return { turnId: state.turn.id };
  const last = state.turns.at(-1);
  if (last?.replayed && last.endedAt === undefined) return { turnId: last.id };
  return last ? { turnId: last.id, late: true } : {};
}

/** Returns the turn of current events: the running turn, or the last one of a replay. */
export function currentTurn(state: Readonly<SessionState>): Turn | undefined {
  return state.turn ?? (state.replaying ? state.turns.at(-1) : undefined);
}

/**
 * Calls `change` with the entry of the same turn that `index` has for the id, or adds the entry
 * that `make` returns.
 */
export function upsert(
  context: ModelContext,
  index: Map<string, number>,
  id: string,
  at: number,
  make: Parameters<ModelContext['push']>[0],
  change: (entry: Entry) => void,
): void {
  const known = index.get(id);
  const entry = known === undefined ? undefined : context.state.entries[known];
  // In a new turn it is a new plan, even if the agent reuses its id.
  const turn = currentTurn(context.state);
  if (entry && (entry.turnId === turn?.id || !turn)) {
    change(entry);
    context.note((changes) => changes.entry(entry.index));
  } else index.set(id, context.push(make, at));
}

export function shiftIndexes(context: ModelContext, from: number, by: number): void {
  mapIndexes(context, (index) => (index >= from ? index + by : index));
}

export function mapIndexes(context: ModelContext, moved: (index: number) => number): void {
  for (const entry of context.state.entries) entry.index = moved(entry.index);
  for (const map of [context.messages, context.tools, context.plans, context.gaps, context.compactions])
    for (const [key, index] of map) map.set(key, moved(index));
  for (const echo of new Set([...context.prompts.values(), ...(context.echo ? [context.echo] : [])]))
    echo.index = moved(echo.index);
  for (const subagent of context.subagents.byId.values()) subagent.index = moved(subagent.index);
  for (const places of [context.openTools, ...context.terminalShownIn.values()]) {
    const indexes = [...places].map(moved);
    places.clear();
    for (const index of indexes) places.add(index);
  }
}

export function clear(context: ModelContext): void {
  const { state } = context;
  state.entries.length = 0;
  state.turns.length = 0;
  state.turn = undefined;
  state.suggestion = undefined;
  for (const map of [
    state.nests,
    context.messages,
    context.nestedMessages,
    context.tools,
    context.plans,
    context.gaps,
    context.compactions,
    context.subagents,
    context.turnsById,
    context.terminalShownIn,
    context.prompts,
    context.toolSizes,
    state.terminals,
  ])
    map.clear();
  context.openTools.clear();
  context.terminalChars = 0;
  context.wholeAt = undefined;
  context.renewedAt = 0;
  context.echo = undefined;
  context.note((changes) => changes.clearedAll());
}

class ToolSizes {
  readonly #sizes = new Map<ToolEntry, number>();
  #total = 0;

  set(entry: ToolEntry): readonly ToolEntry[] {
    const raw = roughSize(entry.rawInput, MAX_RAW_CHARS) + roughSize(entry.rawOutput, MAX_RAW_CHARS);
    return this.add(entry, contentSize(entry.content) + raw - (this.#sizes.get(entry) ?? 0));
  }

  add(entry: ToolEntry, by: number): readonly ToolEntry[] {
    this.#sizes.set(entry, (this.#sizes.get(entry) ?? 0) + by);
    this.#total += by;
    const tooMuch: ToolEntry[] = [];
    for (const [oldest, size] of this.#sizes) {
      if (this.#total <= MAX_ALL_TOOL_CHARS) break;
      this.#sizes.delete(oldest);
      this.#total -= size;
      tooMuch.push(oldest);
    }
    return tooMuch;
  }

  clear(): void {
    this.#sizes.clear();
    this.#total = 0;
  }
}
