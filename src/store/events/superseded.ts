// What a later event of a tool call or a terminal makes superfluous in earlier ones, so that the journal keeps what the model
// keeps. What is left makes the same state: the first row of a call stays, as it gives the call its place in the transcript.
import type { ToolContent } from '../../session/events/content';
import type { SessionEvent, ToolPatch } from '../../session/events/event';

type ToolCall = Extract<SessionEvent, { type: 'tool_call' }>;
type ToolEvent = ToolCall | Extract<SessionEvent, { type: 'tool_content' }>;
type TerminalEvent = Extract<SessionEvent, { type: 'terminal' }>;

/** Characters of a terminal's output that are kept; as many as the model keeps. */
export const MAX_TERMINAL_CHARS = 1024 * 1024;
/** The same of a tool call's text that comes in pieces. */
const MAX_PIECES_CHARS = 1024 * 1024;
const PIECES_CUT = '[what came before was left out]\n';
/** Tool calls and terminals that are remembered for each session. */
const MAX_REMEMBERED = 64;

/** Changes a row that was added before; undefined: nothing of it is needed. */
export type Rewrite<Place> = (place: Place, event: SessionEvent | undefined, before: SessionEvent) => void;

interface Remembered<Place> {
  readonly place: Place;
  event: SessionEvent;
}

/** Remembers the rows of the tool calls and terminals of one session that later ones may supersede. */
export class Superseded<Place> {
  readonly #tools = new Map<string, Remembered<Place>[]>();
  readonly #terminals = new Map<string, Remembered<Place>[]>();
  readonly #rewrite: Rewrite<Place>;
  readonly #minChars: number;

  /** @param minChars rows with less text are not worth a change */
  constructor(rewrite: Rewrite<Place>, minChars = 0) {
    this.#rewrite = rewrite;
    this.#minChars = minChars;
  }

  /** Takes an event that was added, and rewrites the earlier ones that it supersedes. */
  add(event: SessionEvent, place: Place): void {
    switch (event.type) {
      case 'cleared':
        this.#terminals.clear();
        this.#tools.clear();
        return;
      case 'turn_started':
      case 'turn_ended':
      case 'ids_renewed':
        // From here on the same id may be another call, and a file that changes is no longer one of that turn.
        this.#tools.clear();
        return;
      case 'tool_call':
      case 'tool_content':
        this.#tool(event, place);
        return;
      case 'terminal':
        this.#terminal(event, place);
    }
  }

  #tool(event: ToolEvent, place: Place): void {
    // A call that is announced again may be a new one.
    if (event.type === 'tool_call' && event.announced) this.#tools.delete(event.toolCallId);
    const rows = remembered(this.#tools, event.toolCallId);
    if (event.type === 'tool_call') {
      const isSafe = keepsReferences(rows, event.patch);
      let isEmptied = false;
      for (const [index, row] of [...rows.entries()]) {
        const left = remainder(row.event as ToolEvent, event, isSafe, index === 0, isEmptied);
        // Of what is not remembered, the content of an earlier row may stand between two of these.
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

  /** Of a text that comes in pieces without end, the last ones are kept. */
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
    const rows = remembered(this.#terminals, event.terminalId);
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

/** The rows of an id; the oldest id is forgotten where there are many. */
function remembered<Place>(all: Map<string, Remembered<Place>[]>, id: string): Remembered<Place>[] {
  const known = all.get(id);
  if (known) return known;
  const [oldest] = all.keys();
  if (all.size >= MAX_REMEMBERED && oldest !== undefined) all.delete(oldest);
  const rows: Remembered<Place>[] = [];
  all.set(id, rows);
  return rows;
}

/**
 * What is left of an earlier event of a call: itself, less of it, or undefined where nothing is.
 * @param isEmptied the content was removed by a row before: where it was not, it must not show again
 */
function remainder(
  earlier: ToolEvent,
  later: ToolCall,
  isSafe: boolean,
  isFirst: boolean,
  isEmptied: boolean,
): SessionEvent | undefined {
  const replaced = isSafe && replacesContent(later);
  if (earlier.type === 'tool_content') return replaced && !isFirst ? undefined : earlier;
  const { patch } = later;
  const kept: Record<string, unknown> = {};
  let dropped = 0;
  for (const [field, value] of Object.entries(earlier.patch)) {
    if (field === 'content' && replaced && !isEmptied) {
      kept.content = null;
      if (value !== null) dropped++;
    } else if (field === 'content' ? replaced : isReplaced(field as keyof ToolPatch, value, patch, later.announced))
      dropped++;
    else kept[field] = value;
  }
  if (Object.keys(kept).length === 0 && !isFirst && !earlier.announced) return undefined;
  return dropped === 0 ? earlier : { ...earlier, patch: kept };
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
      // The end of a call has a time, and what follows from it.
      return (value === 'pending' || value === 'in_progress') && patch.status != null && !announced;
    case 'content':
      return false;
  }
}

function replacesContent({ patch, announced }: ToolCall): boolean {
  return patch.content !== undefined && !(announced && (patch.content?.length ?? 0) === 0);
}

/**
 * Files that a turn changed and terminals that are shown are known by the contents that name them: these are in the new content too,
 * and the call has succeeded, as only then its files count.
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

/** The text of one piece of a tool call; empty where it is something else. */
function pieceOf(event: SessionEvent): string {
  if (event.type !== 'tool_content' || event.part.type !== 'content') return '';
  return event.part.block.type === 'text' ? event.part.block.text : '';
}

/** About the characters of an event's contents. */
function sizeOf(event: ToolEvent): number {
  const parts = event.type === 'tool_content' ? [event.part] : (event.patch.content ?? []);
  const raw = event.type === 'tool_call' ? [event.patch.rawInput, event.patch.rawOutput] : [];
  return parts.reduce((sum, part) => sum + sizeOfPart(part), raw.filter((value) => value != null).length * 1000);
}

function sizeOfPart(part: ToolContent): number {
  if (part.type === 'diff') return part.newText.length + (part.oldText?.length ?? 0);
  return part.type === 'content' && part.block.type === 'text' ? part.block.text.length : 1000;
}
