// Shrinks rows that later events supersede, so that the journal stores only what the model keeps.
// The remaining rows give the same state: the first row of a tool call, plan or message stays, as
// it determines the entry's position in the transcript.
import { roughSize } from '../../base/text';
import type { ToolContent } from '../../session/events/content';
import type { EventOf, SessionEvent, ToolPatch } from '../../session/events/event';

type ToolCall = EventOf<'tool_call'>;
type ToolEvent = ToolCall | EventOf<'tool_content'>;
type TerminalEvent = EventOf<'terminal'>;

export const MAX_TERMINAL_CHARS = 1024 * 1024;
const MAX_PIECES_CHARS = 1024 * 1024;
const PIECES_CUT = '[what came before was left out]\n';
const MAX_REMEMBERED = 64;

export type Rewrite<Place> = (place: Place, event: SessionEvent | undefined, before: SessionEvent) => void;

interface Remembered<Place> {
  readonly place: Place;
  event: SessionEvent;
}

export class Superseded<Place> {
  /**
   * By subject. Only until a turn begins or ends, as the same id can then be about something new.
   */
  readonly #rowsOfTurn = new Map<string, Remembered<Place>[]>();
  readonly #rowsOfSession = new Map<string, Remembered<Place>[]>();
  readonly #rewrite: Rewrite<Place>;
  readonly #minChars: number;

  constructor(rewrite: Rewrite<Place>, minChars = 0) {
    this.#rewrite = rewrite;
    this.#minChars = minChars;
  }

  add(event: SessionEvent, place: Place): void {
    switch (event.type) {
      case 'cleared':
        this.#rowsOfTurn.clear();
        this.#rowsOfSession.clear();
        return;
      case 'turn_started':
      case 'turn_ended':
      case 'ids_renewed':
      case 'replayed_turn':
      case 'replayed_end':
      case 'replay_resumed':
      case 'replay_ended':
      case 'restored':
      case 'gap_filled':
      case 'gaps_filled':
        this.#rowsOfTurn.clear();
        return;
      case 'tool_call':
      case 'tool_content':
        this.#tool(event, place);
        return;
      case 'terminal':
        this.#terminal(event, place);
        return;
      case 'plan_removed':
        this.#rowsOfTurn.delete(`plan ${event.planId}`);
        return;
    }
    // In a replay, a turn begins with the user's message.
    if ('role' in event && event.role === 'user') this.#rowsOfTurn.clear();
    else this.#whole(event, place);
  }

  #whole(event: SessionEvent, place: Place): void {
    const id = replacedBy(event);
    if (id === undefined) return;
    const rows = remembered(OF_TURN.has(event.type) ? this.#rowsOfTurn : this.#rowsOfSession, id);
    for (const [index, row] of [...rows.entries()]) {
      const left = remainderOf(row.event, event, index === 0);
      if (left === row.event) continue;
      this.#rewrite(row.place, left, row.event);
      if (left) row.event = left;
      else rows.splice(rows.indexOf(row), 1);
    }
    if (roughSize(event, this.#minChars) >= this.#minChars) rows.push({ place, event });
  }

  #tool(event: ToolEvent, place: Place): void {
    // A call that is announced again can be a new one.
    const id = `tool ${event.toolCallId}`;
    if (event.type === 'tool_call' && event.announced) this.#rowsOfTurn.delete(id);
    const rows = remembered(this.#rowsOfTurn, id);
    if (event.type === 'tool_call' && rows.length > 0) {
      const replacesAll = replacesContent(event) && keepsReferences(rows, event.patch);
      let isEmptied = false;
      for (const [index, row] of [...rows.entries()]) {
        const left = remainder(row.event as ToolEvent, event, replacesAll, index === 0, isEmptied);
        // Content that was not remembered may be between these two rows.
        if (left?.type === 'tool_call' && left.patch.content === null) isEmptied = this.#minChars === 0;
        if (left === row.event) continue;
        this.#rewrite(row.place, left, row.event);
        if (left) row.event = left;
        else rows.splice(rows.indexOf(row), 1);
      }
    }
    if (sizeOf(event) < this.#minChars) return;
    rows.push({ place, event });
    if (event.type === 'tool_content') this.#dropOldPieces(rows);
  }

  #dropOldPieces(rows: Remembered<Place>[]): void {
    let chars = rows.reduce((sum, { event }) => sum + pieceOf(event).length, 0);
    if (chars <= 2 * MAX_PIECES_CHARS) return;
    let next = rows.findIndex((row, index) => index > 0 && pieceOf(row.event) !== '');
    while (next > 0 && next < rows.length - 1 && chars > MAX_PIECES_CHARS) {
      const [old] = rows.splice(next, 1);
      if (!old) return;
      chars -= pieceOf(old.event).length;
      this.#rewrite(old.place, undefined, old.event);
      next = rows.findIndex((row, index) => index >= next && pieceOf(row.event) !== '');
    }
    const first = rows[next];
    if (first?.event.type !== 'tool_content') return;
    const text = `${PIECES_CUT}${pieceOf(first.event)}`;
    this.#replace(first, { ...first.event, part: { type: 'content', block: { type: 'text', text } } });
  }

  #terminal(event: TerminalEvent, place: Place): void {
    const rows = remembered(this.#rowsOfSession, `terminal ${event.terminalId}`);
    if (event.output !== undefined) {
      for (const row of rows) this.#replace(row, withoutText(row.event as TerminalEvent));
      rows.length = 0;
    }
    if (event.output === undefined && !event.append) return;
    rows.push({ place, event });
    let chars = rows.reduce((sum, row) => sum + outputOf(row.event as TerminalEvent).length, 0);
    let isCut = false;
    for (let first = rows[0]; first && rows.length > 1; first = rows[0]) {
      const length = outputOf(first.event as TerminalEvent).length;
      if (chars - length < MAX_TERMINAL_CHARS) break;
      this.#replace(first, withoutText(first.event as TerminalEvent));
      rows.shift();
      chars -= length;
      isCut = true;
    }
    const [first] = rows;
    if (!isCut || !first) return;
    const { append, ...rest } = first.event as TerminalEvent;
    this.#replace(first, { ...rest, output: rest.output ?? append ?? '', truncated: true });
  }

  #replace(row: Remembered<Place>, event: SessionEvent): void {
    const before = row.event;
    row.event = event;
    this.#rewrite(row.place, event, before);
  }
}

function remembered<Place>(all: Map<string, Remembered<Place>[]>, id: string): Remembered<Place>[] {
  const known = all.get(id);
  if (known) return known;
  const [oldest] = all.keys();
  if (all.size >= MAX_REMEMBERED && oldest !== undefined) all.delete(oldest);
  const rows: Remembered<Place>[] = [];
  all.set(id, rows);
  return rows;
}

const OF_TURN: ReadonlySet<SessionEvent['type']> = new Set(['plan', 'plan_document', 'message', 'usage']);

/** Returns the subject that an event describes completely; undefined if it only adds to it. */
function replacedBy(event: SessionEvent): string | undefined {
  switch (event.type) {
    case 'plan':
    case 'plan_document':
      return `plan ${event.planId}`;
    case 'message':
      // One without content is no entry yet.
      return event.content?.length ? `${event.role} ${event.messageId}` : undefined;
    case 'turn_changes':
      return `changes ${event.turnId}`;
    case 'commands':
    case 'config':
    case 'info':
    case 'rate_limits':
    case 'usage':
      return event.type;
    default:
      return undefined;
  }
}

/** Returns the part of an earlier event that is still needed; undefined if none. */
function remainderOf(earlier: SessionEvent, later: SessionEvent, isFirst: boolean): SessionEvent | undefined {
  switch (earlier.type) {
    case 'plan':
      return !isFirst ? undefined : earlier.entries.length > 0 ? { ...earlier, entries: [] } : earlier;
    case 'plan_document':
    case 'message':
      return isFirst ? earlier : undefined;
    case 'config':
      // Options that the user has set are counted.
      if (earlier.chosen === undefined || (later.type === 'config' && later.chosen === earlier.chosen))
        return undefined;
      return earlier.options.length > 0 ? { ...earlier, options: [] } : earlier;
    case 'info':
      if (later.type !== 'info') return earlier;
      // The agent's title does not replace the user's.
      return (earlier.byUser && !later.byUser) || (earlier.title !== undefined && later.title === undefined)
        ? earlier
        : undefined;
    case 'rate_limits':
      return later.type === 'rate_limits' && kindsOf(earlier) === kindsOf(later) ? undefined : earlier;
    case 'usage':
      // A cost is valid until the next one.
      return later.type === 'usage' && earlier.usage.cost && !later.usage.cost ? earlier : undefined;
    default:
      return undefined;
  }
}

function kindsOf({ limits }: EventOf<'rate_limits'>): string {
  return limits.map(({ kind }) => kind).join('\n');
}

/**
 * Returns the part of an earlier event of a call that is still needed; undefined if none.
 * @param replaced the later one replaces the content
 * @param isEmptied an earlier row lost the content already
 */
function remainder(
  earlier: ToolEvent,
  later: ToolCall,
  replaced: boolean,
  isFirst: boolean,
  isEmptied: boolean,
): SessionEvent | undefined {
  if (earlier.type === 'tool_content') return replaced && !isFirst ? undefined : earlier;
  const { patch } = later;
  const needed: Record<string, unknown> = {};
  let dropped = 0;
  for (const [field, value] of Object.entries(earlier.patch)) {
    if (value === undefined) continue;
    if (field === 'content' && replaced && !isEmptied) {
      needed.content = null;
      if (value !== null) dropped++;
    } else if (field === 'parent') {
      // The first one determines the order in which calls were nested.
      if (isFirst || value !== patch.parent) needed.parent = value;
      else dropped++;
    } else if (field === 'content' ? replaced : isReplaced(field as keyof ToolPatch, value, patch, later.announced))
      dropped++;
    else needed[field] = value;
  }
  if (Object.keys(needed).length === 0 && !isFirst && !earlier.announced) return undefined;
  return dropped === 0 ? earlier : { ...earlier, patch: needed };
}

function isReplaced(field: keyof ToolPatch, value: unknown, patch: ToolPatch, announced: boolean): boolean {
  switch (field) {
    case 'rawInput':
    case 'rawOutput':
    case 'name':
    case 'kind':
    case 'canCancel':
      return patch[field] !== undefined;
    case 'title':
      return patch.title === null || (patch.title ?? '') !== '';
    case 'locations':
      return patch.locations !== undefined && !announced;
    case 'status':
      // The row that ends a call has its time.
      return (value === 'pending' || value === 'in_progress') && patch.status != null && !announced;
    case 'content':
    case 'parent':
      return false;
  }
}

function replacesContent({ patch, announced }: ToolCall): boolean {
  return patch.content !== undefined && !(announced && (patch.content?.length ?? 0) === 0);
}

/**
 * Changed files and terminals are known from the contents of successful calls, so the new content
 * must name the same ones.
 */
function keepsReferences<Place>(rows: readonly Remembered<Place>[], { content, status }: ToolPatch): boolean {
  const named = new Set((content ?? []).map(referenceOf));
  return rows.every(({ event }) => {
    const parts =
      event.type === 'tool_call' ? (event.patch.content ?? []) : event.type === 'tool_content' ? [event.part] : [];
    return parts.every((part) => {
      const reference = referenceOf(part);
      return reference === undefined || (named.has(reference) && (part.type !== 'diff' || status === 'completed'));
    });
  });
}

function referenceOf(part: ToolContent): string | undefined {
  return part.type === 'diff'
    ? `diff:${part.path}`
    : part.type === 'terminal'
      ? `terminal:${part.terminalId}`
      : undefined;
}

function outputOf({ output, append }: TerminalEvent): string {
  return output ?? append ?? '';
}

function withoutText({
  output: _output,
  append: _append,
  truncated: _truncated,
  ...rest
}: TerminalEvent): TerminalEvent {
  return rest;
}

function pieceOf(event: SessionEvent): string {
  if (event.type !== 'tool_content' || event.part.type !== 'content') return '';
  return event.part.block.type === 'text' ? event.part.block.text : '';
}

function sizeOf(event: ToolEvent): number {
  const parts = event.type === 'tool_content' ? [event.part] : (event.patch.content ?? []);
  const raw = event.type === 'tool_call' ? [event.patch.rawInput, event.patch.rawOutput] : [];
  return parts.reduce((sum, part) => sum + sizeOfPart(part), raw.filter((value) => value != null).length * 1000);
}

export function sizeOfPart(part: ToolContent): number {
  if (part.type === 'diff') return part.newText.length + (part.oldText?.length ?? 0);
  return part.type === 'content' && part.block.type === 'text' ? part.block.text.length : 1000;
}
