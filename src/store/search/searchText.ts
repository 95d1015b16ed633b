// The texts of messages for search: one for each message, more for a long one.
import type { IndexedKind, IndexedRow, IndexedText } from './indexedKind';

const MAX_PIECE = 16 * 1024;

export const MESSAGES: IndexedKind = {
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
  #open:
    | { readonly seq: number; last: number; readonly role: string; readonly id: string | undefined; text: string }
    | undefined;

  get openSince(): number | undefined {
    return this.#open?.seq;
  }

  take({ seq, event }: IndexedRow): void {
    if (event.type === 'restored') {
      this.finish();
      if (event.text !== undefined) this.#write(seq, 'agent', event.text);
      for (const one of event.events ?? []) this.take({ seq, event: one });
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
    if (this.#open) this.#write(this.#open.seq, this.#open.role === 'user' ? 'user' : 'agent', this.#open.text);
    this.#open = undefined;
  }

  #write(seq: number, role: IndexedText['role'], text: string): void {
    for (const piece of cut(text)) this.texts.push({ seq, role, text: piece });
  }
}

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
