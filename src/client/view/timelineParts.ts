// Projects the turns and tool calls of a session with their times, in parts of bounded size.
import { head } from '../../base/text';
import type { TimelineCall, TimelineTurn, TimelineView } from '../../panel/contract';
import type { TimedEvent } from '../../session/events/event';
import type { SessionView } from '../../session/model/model';
import type { Entry, SessionState, ToolEntry, Turn } from '../../session/model/state';
import { isEnded } from '../../session/model/tools';

const PART = 5000;
const MAX_TITLE = 120;

/** The first part includes the turns. @param now ms since 1970 */
export function timelineParts(state: Readonly<SessionState>, from: number, now: number): readonly TimelineView[] {
  const { entries } = state;
  const numbers = new Map(state.turns.map(({ id, number }) => [id, number]));
  const numberOf = ({ turnId }: Entry): number | undefined => (turnId === undefined ? undefined : numbers.get(turnId));
  const firsts = new Map<number, number>();
  const calls: TimelineCall[] = [];
  let least = from > 0 ? Number.POSITIVE_INFINITY : 0;
  for (let index = from; index < entries.length; index++) {
    const entry = entries[index]!;
    const number = numberOf(entry);
    if (number !== undefined) {
      if (!firsts.has(number)) firsts.set(number, index);
      least = Math.min(least, number);
    }
    if (entry.kind === 'tool') calls.push(callOf(entry, number, isRunning(state, entry), now));
  }
  // A turn that has just begun has no entries yet.
  const last = state.turns.length;
  const turns = state.turns
    .slice(Math.max(0, Math.min(least, last) - 1))
    .map((turn) => turnOf(turn, state, firsts.get(turn.number), now));
  const parts: TimelineView[] = [];
  for (let at = 0; at === 0 || at < calls.length; at += PART) {
    const part = calls.slice(at, at + PART);
    parts.push({
      from: at === 0 ? from : part[0]!.index,
      turns: at === 0 ? turns : [],
      calls: part,
      now,
      isDone: at + PART >= calls.length,
    });
  }
  return parts;
}

/** A call left open by a replay isn't running. */
function isRunning({ turn, background }: Readonly<SessionState>, entry: ToolEntry): boolean {
  if (isEnded(entry.status)) return false;
  const isOfTurn = turn !== undefined && entry.turnId === turn.id;
  return isOfTurn || entry.subagentId !== undefined || background.some(({ id }) => id === entry.toolCallId);
}

function callOf(entry: ToolEntry, turn: number | undefined, isOpen: boolean, now: number): TimelineCall {
  const { index, at, toolKind, status, title, waitedMs } = entry;
  const endedAt = Math.max(at, Math.min(entry.endedAt ?? at, now));
  return {
    index,
    at,
    endedAt: !isOpen ? endedAt : undefined,
    kind: head(toolKind, MAX_TITLE),
    status,
    title: head(title.trim().split('\n', 1)[0]!, MAX_TITLE),
    turn,
    waitedMs,
  };
}

function turnOf(turn: Turn, state: Readonly<SessionState>, index: number | undefined, now: number): TimelineTurn {
  const { number, startedAt: at, tokens, usage } = turn;
  // The end of a replayed turn is unknown.
  const endedAt = turn.endedAt ?? (turn === state.turn ? undefined : at);
  const waitsSince = waitingSince(state, turn);
  const waits = (turn.waits ?? []).map(({ from, until }) => ({ from, until }));
  if (waitsSince !== undefined && waitsSince < now) waits.push({ from: waitsSince, until: now });
  return {
    number,
    at,
    endedAt,
    index,
    waits: waits.length > 0 ? waits : undefined,
    tokens,
    context: usage && usage.size > 0 ? Math.max(0, Math.min(1, usage.used / usage.size)) : undefined,
    ...costOf(turn, state),
  };
}

function costOf({ number, usage }: Turn, { turns }: Readonly<SessionState>): Pick<TimelineTurn, 'cost'> {
  if (!usage?.cost) return {};
  const { currency } = usage.cost;
  const before = turns[number - 2]?.usage?.cost;
  const isSame = before?.currency === currency;
  const amount = usage.cost.amount - (isSame ? before.amount : 0);
  // A total that falls, or follows a turn without one, doesn't show this turn's cost.
  const isKnown = number === 1 || isSame;
  return isKnown && amount > 0 ? { cost: { amount, currency } } : {};
}

function waitingSince(state: Readonly<SessionState>, turn: Turn): number | undefined {
  if (state.turn !== turn) return undefined;
  const asked = [...state.permissions.values(), ...state.elicitations.values()].map(({ at }) => at);
  return asked.length === 0 ? undefined : Math.max(turn.startedAt, Math.min(...asked));
}

/**
 * Returns the index of an event's entry: the start of a turn counts for its first entry, an event
 * without an entry for the last one before it.
 */
export function entryOf(
  model: Pick<SessionView, 'state' | 'toolIndex'>,
  { at, event }: TimedEvent,
): number | undefined {
  if (event.type === 'tool_call') return model.toolIndex(event.toolCallId);
  const { entries } = model.state;
  const first = event.type === 'turn_started' ? entries.findIndex(({ turnId }) => turnId === event.turnId) : -1;
  if (first !== -1) return first;
  const exact = entries.findLastIndex((entry) => entry.at === at && entry.kind === kindOf(event));
  const index = exact === -1 ? entries.findLastIndex((entry) => entry.at <= at) : exact;
  return index === -1 ? undefined : index;
}

function kindOf(event: TimedEvent['event']): Entry['kind'] {
  const isAgent = (event.type === 'message' || event.type === 'message_chunk') && event.role === 'agent';
  return isAgent ? 'agent' : 'user';
}
