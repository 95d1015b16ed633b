// Indexes messages for search, one row for each, once they are complete.
import type { SessionEvent } from '../../session/events/event';
import { decode } from '../events/rowCodec';
import { numberOf, type Sql, textOf } from '../file/sql';

/** Maximum characters of one indexed text; a longer message is split. */
const MAX_PIECE = 16 * 1024;
/** Rows of one session indexed at a time. */
const BATCH = 2000;
/** Sessions indexed at a time. */
const MAX_SESSIONS = 50;

/**
 * Indexes new events of some sessions, a batch for each.
 * @param final also indexes the last message of a session, which could still grow; only valid if no
 * window writes to it
 * @returns whether there is more
 */
export function indexBacklog(sql: Sql, final: boolean): boolean {
  const keys = sql.all('SELECT key FROM sessions WHERE indexed_seq < last_seq LIMIT ?', MAX_SESSIONS);
  let more = false;
  for (const row of keys) more = indexSession(sql, textOf(row.key) ?? '', final) || more;
  return more || (final && keys.length === MAX_SESSIONS);
}

/**
 * Indexes new events of one session.
 * @returns whether there is more
 */
export function indexSession(sql: Sql, key: string, final: boolean): boolean {
  return sql.transaction(() => {
    const session = sql.get('SELECT indexed_seq, last_seq FROM sessions WHERE key = ?', key);
    const from = (numberOf(session?.indexed_seq) ?? 0) + 1;
    const lastSeq = numberOf(session?.last_seq) ?? 0;
    const sentence = `SELECT seq, type, json FROM events WHERE key = ? AND seq >= ?
      AND type IN ('message_chunk', 'message', 'prompt_sent', 'restored') ORDER BY seq LIMIT ${BATCH}`;
    const rows = sql.all(sentence, key, from);
    const pieces = new Pieces((seq, role, text) => sql.insert('texts', { key, seq, role, text }));
    let done = rows.length < BATCH ? lastSeq : from - 1;
    for (const row of rows) {
      const seq = numberOf(row.seq) ?? 0;
      if (seq === lastSeq && row.type === 'message_chunk' && !final) {
        done = seq - 1;
        break;
      }
      const event = decode(row.json);
      if (event) pieces.take(seq, event);
      if (rows.length === BATCH) done = seq;
    }
    pieces.finish();
    if (done >= from) sql.run('UPDATE sessions SET indexed_seq = ? WHERE key = ?', done, key);
    return rows.length === BATCH && done < lastSeq;
  });
}

/** Joins chunks to messages. */
class Pieces {
  readonly #add: (seq: number, role: string, text: string) => void;
  #open:
    | { readonly seq: number; last: number; readonly role: string; readonly id: string | undefined; text: string }
    | undefined;

  constructor(add: (seq: number, role: string, text: string) => void) {
    this.#add = add;
  }

  take(seq: number, event: SessionEvent): void {
    if (event.type === 'restored') {
      this.finish();
      if (event.text !== undefined) this.#write(seq, 'agent', event.text);
      for (const one of event.events ?? []) this.take(seq, one);
      this.finish();
    } else if (event.type === 'prompt_sent' || (event.type === 'message' && event.role !== 'thought')) {
      this.finish();
      const role = event.type === 'message' && event.role === 'agent' ? 'agent' : 'user';
      const text = (event.content ?? []).map((block) => (block.type === 'text' ? block.text : '')).join('\n');
      this.#write(seq, role, text);
    } else if (event.type === 'message_chunk' && event.role !== 'thought' && event.block.type === 'text') {
      const open = this.#open;
      // Rows of one message are consecutive.
      if (open && open.last === seq - 1 && open.role === event.role && open.id === event.messageId) {
        open.text += event.block.text;
        open.last = seq;
      } else {
        this.finish();
        this.#open = { seq, last: seq, role: event.role, id: event.messageId, text: event.block.text };
      }
    }
  }

  finish(): void {
    if (this.#open) this.#write(this.#open.seq, this.#open.role, this.#open.text);
    this.#open = undefined;
  }

  #write(seq: number, role: string, text: string): void {
    for (const piece of cut(text)) this.#add(seq, role, piece);
  }
}

/**
 * Splits a text at spaces. Control characters are removed; two of them mark the matches in
 * snippets.
 */
export function* cut(text: string): Generator<string> {
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
