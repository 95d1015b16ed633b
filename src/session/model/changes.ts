// Coalesces changes since a reader last took them, so that drawing costs depend on the changes and
// not on the length of the session.

import { tail } from '../../base/text';

/** Characters of terminal output kept for a slow reader: more than it shows. */
const MAX_PENDING_TERMINAL_CHARS = 128 * 1024;
/** Characters pending for one reader. Beyond that, rereading everything is cheaper. */
const MAX_PENDING_CHARS = 4 * 1024 * 1024;

export type SessionPart =
  | 'connection'
  | 'queue'
  | 'attachments'
  | 'turn'
  | 'permissions'
  | 'elicitations'
  | 'background'
  | 'commands'
  | 'modes'
  | 'config'
  | 'usage'
  | 'limits'
  | 'info'
  | 'plan'
  | 'review';

export class Changes {
  /**
   * By transcript index: `true` if the entry must be reread, otherwise the text appended to its
   * last text block.
   */
  readonly entries = new Map<number, true | string>();
  /** By transcript index: the first content block added after that text. */
  readonly blocks = new Map<number, number>();
  readonly terminals = new Map<string, string>();
  readonly parts = new Set<SessionPart>();
  /**
   * The reader must start over: the transcript was cleared, entries moved, or too much is pending.
   * No changes are recorded until {@link reset}.
   */
  cleared = false;
  #pendingChars = 0;
  readonly #wake: () => void;

  /**
   * @param wake called on each change, often many times before changes are taken, so it must be
   * cheap
   */
  constructor(wake: () => void) {
    this.#wake = wake;
  }

  /** For a reader that only needs notifications: records nothing. */
  static unrecorded(wake: () => void): Changes {
    const changes = new Changes(wake);
    changes.cleared = true;
    return changes;
  }

  get isEmpty(): boolean {
    return this.entries.size === 0 && this.terminals.size === 0 && this.parts.size === 0 && !this.cleared;
  }

  entry(index: number): void {
    if (!this.cleared) {
      const known = this.entries.get(index);
      if (typeof known === 'string') this.#pendingChars -= known.length;
      this.blocks.delete(index);
      this.entries.set(index, true);
    }
    this.#wake();
  }

  appended(index: number, text: string): void {
    const known = this.cleared || this.entries.get(index);
    if (known !== true && !this.blocks.has(index)) {
      this.entries.set(index, known === undefined ? text : known + text);
      this.#count(text.length);
    }
    this.#wake();
  }

  added(index: number, block: number): void {
    const known = this.entries.get(index);
    if (!this.cleared && known !== true) {
      this.entries.set(index, known ?? '');
      if (!this.blocks.has(index)) this.blocks.set(index, block);
    }
    this.#wake();
  }

  terminal(id: string, text: string): void {
    if (!this.cleared) {
      const known = this.terminals.get(id) ?? '';
      const whole = known + text;
      const bounded = whole.length > 2 * MAX_PENDING_TERMINAL_CHARS ? tail(whole, MAX_PENDING_TERMINAL_CHARS) : whole;
      this.terminals.set(id, bounded);
      this.#count(bounded.length - known.length);
    }
    this.#wake();
  }

  part(part: SessionPart): void {
    if (!this.cleared) this.parts.add(part);
    this.#wake();
  }

  clearedAll(): void {
    this.reset();
    this.cleared = true;
    this.#wake();
  }

  reset(): void {
    this.entries.clear();
    this.blocks.clear();
    this.terminals.clear();
    this.parts.clear();
    this.cleared = false;
    this.#pendingChars = 0;
  }

  #count(chars: number): void {
    this.#pendingChars += chars;
    if (this.#pendingChars <= MAX_PENDING_CHARS) return;
    this.reset();
    this.cleared = true;
  }
}
