// Updates the search index in small steps: some events of some sessions at a time, the sessions
// with the newest events first.
import { roughSize } from '../../base/text';
import type { EventOf, SessionEvent } from '../../session/events/event';
import { decode } from '../events/rowCodec';
import { numberOf, type Sql, textOf } from '../file/sql';

interface IndexedRow {
  readonly seq: number;
  readonly event: SessionEvent;
}

interface IndexedKind {
  readonly progress: 'indexed_seq' | 'tools_seq';
  readonly types: string;
  /**
   * @param hasMore the session continues
   * @returns texts, and the row before which the next step begins
   */
  readonly textsOf: (
    rows: readonly IndexedRow[],
    hasMore: boolean,
  ) => { readonly texts: readonly IndexedText[]; readonly next?: number };
}

interface IndexedText {
  readonly seq: number;
  readonly role: 'user' | 'agent' | 'tool';
  readonly text: string;
}

const MAX_PIECE = 16 * 1024;

const MESSAGES: IndexedKind = {
  progress: 'indexed_seq',
  types: `'message_chunk', 'message', 'prompt_sent', 'restored'`,
  textsOf: (rows, hasMore) => {
    const pieces = new Pieces();
    for (const row of rows) pieces.take(row);
    const open = pieces.openSince;
    // A message that continues is read again as a whole, unless it began with these rows.
    if (hasMore && open !== undefined && open !== rows[0]?.seq) return { texts: pieces.texts, next: open };
    pieces.finish();
    return { texts: pieces.texts };
  },
};

class Pieces {
  readonly texts: IndexedText[] = [];
  #openMessage:
    | { readonly seq: number; last: number; readonly role: string; readonly id: string | undefined; text: string }
    | undefined;

  get openSince(): number | undefined {
    return this.#openMessage?.seq;
  }

  take({ seq, event }: IndexedRow): void {
    if (event.type === 'restored') {
      this.finish();
      if (event.text !== undefined) this.#write(seq, 'agent', event.text);
      for (const nested of event.events ?? []) this.take({ seq, event: nested });
      this.finish();
    } else if (event.type === 'prompt_sent' || (event.type === 'message' && event.role !== 'thought')) {
      this.finish();
      const role = event.type === 'message' && event.role === 'agent' ? 'agent' : 'user';
      const text = (event.content ?? []).map((block) => (block.type === 'text' ? block.text : '')).join('\n');
      this.#write(seq, role, text);
    } else if (event.type === 'message_chunk' && event.role !== 'thought' && event.block.type === 'text') {
      const open = this.#openMessage;
      // Rows of one message are consecutive.
      if (open && open.last === seq - 1 && open.role === event.role && open.id === event.messageId) {
        open.text += event.block.text;
        open.last = seq;
      } else {
        this.finish();
        this.#openMessage = { seq, last: seq, role: event.role, id: event.messageId, text: event.block.text };
      }
    }
  }

  finish(): void {
    if (this.#openMessage)
      this.#write(this.#openMessage.seq, this.#openMessage.role === 'user' ? 'user' : 'agent', this.#openMessage.text);
    this.#openMessage = undefined;
  }

  #write(seq: number, role: IndexedText['role'], text: string): void {
    for (const piece of cut(text)) this.texts.push({ seq, role, text: piece });
  }
}

function* cut(text: string): Generator<string> {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  const clean = text.replace(/[\0-\x08\x0b-\x1f]+/g, ' ');
  for (let at = 0; at < clean.length; ) {
    let end = Math.min(at + MAX_PIECE, clean.length);
    if (end < clean.length) {
      const space = clean.lastIndexOf(' ', end);
      if (space > at + MAX_PIECE / 2) end = space + 1;
    }
    const piece = clean.slice(at, end);
    if (piece.trim() !== '') yield piece;
    at = end;
  }
}

const MAX_LINE = 2000;
const MAX_LINES = 50;
const INPUTS = ['command', 'cmd', 'file_path', 'path', 'pattern', 'query', 'url'] as const;

/** Progress is separate from that of messages, so that sessions of earlier versions are indexed. */
const TOOL_CALLS: IndexedKind = {
  progress: 'tools_seq',
  types: `'tool_call'`,
  textsOf: (rows) => {
    const calls = new Map<string, Call>();
    for (const { seq, event } of rows) if (event.type === 'tool_call') take(calls, seq, event);
    const texts = [...calls.values()].flatMap(({ seq, lines }) =>
      [...cut([...lines].join('\n'))].map((text) => ({ seq, role: 'tool' as const, text })),
    );
    return { texts };
  },
};

interface Call {
  readonly seq: number;
  readonly lines: Set<string>;
}

function take(calls: Map<string, Call>, seq: number, { toolCallId, patch }: EventOf<'tool_call'>): void {
  const call = calls.get(toolCallId) ?? { seq, lines: new Set<string>() };
  calls.set(toolCallId, call);
  const { title, locations, rawInput } = patch;
  const input = typeof rawInput === 'object' && rawInput !== null ? (rawInput as Record<string, unknown>) : {};
  const texts: unknown[] = [title, ...INPUTS.map((name) => words(input[name]))];
  if (Array.isArray(locations)) texts.push(...locations.slice(0, MAX_LINES).map((location) => location?.path));
  for (const line of texts)
    if (typeof line === 'string' && line !== '' && call.lines.size < MAX_LINES) call.lines.add(line.slice(0, MAX_LINE));
}

function words(value: unknown): unknown {
  return Array.isArray(value) ? value.slice(0, MAX_LINES).join(' ') : value;
}

/** Limits of one step, which reads at least one row to make progress. */
export interface IndexLimits {
  readonly rows: number;
  readonly chars: number;
}

export const INDEX_STEP: IndexLimits = { rows: 500, chars: 64 * 1024 };

const MAX_PASSED = 5000;
const KINDS: readonly IndexedKind[] = [MESSAGES, TOOL_CALLS];

/** Indexes all but the last row, which can still grow. @returns whether there are more */
export function indexNew(sql: Sql, limits: IndexLimits): boolean {
  const left = { ...limits };
  for (const kind of KINDS) {
    for (const { key } of sql.all(waiting(kind))) {
      if (left.rows <= 0 || left.chars <= 0) return true;
      while (indexSome(sql, kind, textOf(key) ?? '', false, left)) if (left.rows <= 0 || left.chars <= 0) return true;
    }
  }
  return false;
}

/** Indexes a session that no window writes to. @returns whether there are more */
export function indexRest(sql: Sql, key: string, limits: IndexLimits): boolean {
  return indexSome(sql, MESSAGES, key, true, { ...limits });
}

/** Sessions to index, newest first. A message that can still grow waits. */
function waiting({ progress }: IndexedKind): string {
  return `SELECT key FROM sessions WHERE ${progress} < last_seq AND NOT ('${progress}' = 'indexed_seq'
      AND indexed_seq = last_seq - 1
      AND (SELECT type FROM events WHERE key = sessions.key AND seq = sessions.last_seq) = 'message_chunk')
    ORDER BY updated DESC`;
}

function indexSome(
  sql: Sql,
  { progress, types, textsOf }: IndexedKind,
  key: string,
  final: boolean,
  left: { rows: number; chars: number },
): boolean {
  return sql.transaction(() => {
    const session = sql.get(`SELECT ${progress} AS done, last_seq FROM sessions WHERE key = ?`, key);
    const from = (numberOf(session?.done) ?? 0) + 1;
    const last = numberOf(session?.last_seq) ?? 0;
    const passed = Math.min(last, from + MAX_PASSED - 1);
    const { rows, end, isGrowing } = readSome(
      sql,
      types,
      { key, from, to: passed, last: final ? undefined : last },
      left,
    );
    const { texts, next } = textsOf(rows, end < last);
    for (const text of texts) sql.insert('texts', { key, ...text });
    const done = next !== undefined ? next - 1 : isGrowing ? last - 1 : end;
    if (done >= from) sql.run(`UPDATE sessions SET ${progress} = ? WHERE key = ?`, done, key);
    return done >= from && done < last && !isGrowing;
  });
}

interface Range {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  readonly last: number | undefined;
}

/** Subtracts a step from the limits by decoded size: a row deflates up to a hundredfold. */
function readSome(
  sql: Sql,
  types: string,
  { key, from, to, last }: Range,
  left: { rows: number; chars: number },
): { rows: IndexedRow[]; end: number; isGrowing: boolean } {
  const rows: IndexedRow[] = [];
  let end = from - 1;
  const sentence = `SELECT seq, type, json FROM events
    WHERE key = ? AND seq BETWEEN ? AND ? AND type IN (${types}) ORDER BY seq`;
  for (const [number, type, json] of sql.rows(sentence, key, from, to)) {
    const seq = numberOf(number) ?? 0;
    if (rows.length > 0 && (left.rows <= 0 || left.chars <= 0)) return { rows, end, isGrowing: false };
    if (seq === last && type === 'message_chunk') return { rows, end, isGrowing: true };
    left.rows--;
    end = seq;
    const event = decode(json);
    if (!event) continue;
    left.chars -= roughSize(event, INDEX_STEP.chars);
    rows.push({ seq, event });
  }
  return { rows, end: to, isGrowing: false };
}
