// The state of a session with the indexes that make each event cheap, and the operations that keep the indexes true to the transcript.
import type { Changes } from './changes';
import type { Entry, SessionState, Turn } from './state';
import { ToolSizes } from './toolSizes';

/** State plus the indexes that make each event cheap. Shared by the files of this room; everybody else sees {@link SessionModel.state}. */
export interface ModelContext {
  readonly state: SessionState;
  /** Transcript index by `role:messageId`. */
  readonly messages: Map<string, number>;
  readonly tools: Map<string, number>;
  readonly plans: Map<string, number>;
  readonly gaps: Map<string, number>;
  readonly compactions: Map<string, number>;
  readonly subagents: SubagentIndex;
  readonly turnsById: Map<string, Turn>;
  /** Tool entries of the running turn, or of none, that have not ended. */
  readonly openTools: Set<number>;
  /** Since when a question of the agent has been open, in ms since 1970. */
  askedSince: number | undefined;
  /** Transcript indexes of the tool entries that show a terminal. */
  readonly terminalShownIn: Map<string, Set<number>>;
  /** Characters of the output of all terminals. */
  terminalChars: number;
  /** How large the tool calls are that may be shortened. */
  readonly toolSizes: ToolSizes;
  /** So many entries stood here when the last one of them was known to be whole. */
  wholeAt: number | undefined;
  /** What an agent that echoes the prompt may still repeat. */
  echo: PromptEcho | undefined;
  /** The newest prompts by their id. */
  readonly prompts: Map<string, PromptEcho>;
  push(
    make: (base: { id: string; index: number; at: number; turnId?: string; late?: true }) => Entry,
    at: number,
  ): number;
  note(apply: (changes: Changes) => void): void;
}

/** A prompt as it stands in the transcript, and how much of it the agent has repeated. */
export interface PromptEcho {
  index: number;
  readonly text: string;
  position: number;
}

/** What is shown of one subagent. */
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
  text: string;
}

/** What the model remembers of subagents beside their entries. */
export class SubagentIndex {
  readonly byId = new Map<string, Subagent>();
  readonly messages = new Map<string, SessionMessage>();

  clear(): void {
    this.byId.clear();
    this.messages.clear();
  }
}

/** Returns the context of an empty session, which tells `readers` what changes. */
export function createContext(readers: ReadonlySet<Changes>): ModelContext {
  const state: SessionState = {
    entries: [],
    turns: [],
    terminals: new Map(),
    permissions: new Map(),
    elicitations: new Map(),
    background: [],
    agentState: undefined,
    turn: undefined,
    replaying: false,
    title: undefined,
    commands: [],
    modes: [],
    mode: undefined,
    config: [],
    usage: undefined,
  };
  return {
    state,
    messages: new Map(),
    tools: new Map(),
    plans: new Map(),
    gaps: new Map(),
    compactions: new Map(),
    subagents: new SubagentIndex(),
    turnsById: new Map(),
    openTools: new Set(),
    askedSince: undefined,
    terminalShownIn: new Map(),
    terminalChars: 0,
    toolSizes: new ToolSizes(),
    wholeAt: undefined,
    echo: undefined,
    prompts: new Map(),
    push(make, at) {
      const index = state.entries.length;
      const entry = make({ id: `e${index}`, index, at, ...placeOf(state) });
      state.entries.push(entry);
      if (state.turn && entry.kind !== 'user') state.turn.firstOutputAt ??= at;
      for (const reader of readers) reader.entry(index);
      return index;
    },
    note(apply) {
      for (const reader of readers) apply(reader);
    },
  };
}

/** Where the turn that just ended is the place of what still comes. */
function placeOf(state: SessionState): { turnId?: string; late?: true } {
  if (state.turn) return { turnId: state.turn.id };
  const last = state.turns.at(-1);
  if (last?.replayed) return { turnId: last.id };
  return last ? { turnId: last.id, late: true } : {};
}

/** The turn that what comes now belongs to: the one that runs, or the last one of a replay. */
export function currentTurn(state: Readonly<SessionState>): Turn | undefined {
  return state.turn ?? (state.replaying ? state.turns.at(-1) : undefined);
}

/** Adds what `make` makes, or lets `change` change the entry that `index` has for the id, as long as its turn lasts. */
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
  // A plan of a new turn is a new plan, even where the agent has no ids for them.
  const turn = currentTurn(context.state);
  if (entry && (entry.turnId === turn?.id || !turn)) {
    change(entry);
    context.note((changes) => changes.entry(entry.index));
  } else index.set(id, context.push(make, at));
}

/** Makes everything that names a place from `from` on name the one `by` further on. The entries themselves are the caller's to put in. */
export function shift(context: ModelContext, from: number, by: number): void {
  move(context, (index) => (index >= from ? index + by : index));
}

/** As {@link shift}, with room in several places. @param moved where an entry stands from now on */
export function move(context: ModelContext, moved: (index: number) => number): void {
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

/** Removes the transcript with all indexes; the state of the session beside it stays. */
export function clear(context: ModelContext): void {
  const { state } = context;
  state.entries.length = 0;
  state.turns.length = 0;
  state.turn = undefined;
  for (const map of [
    context.messages,
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
  context.echo = undefined;
  context.note((changes) => changes.clearedAll());
}
