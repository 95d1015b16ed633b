// What changed since somebody last looked, coalesced: the cost of drawing depends on what changed, never on how long the session is.

import { tail } from '../../base/text';

/** Of what a terminal printed, a reader that is behind gets the end: more than it shows, in characters. */
const MAX_TERMINAL_BEHIND = 128 * 1024;
/** Characters of text that wait for one reader; past them, reading everything anew costs less than keeping it. */
const MAX_BEHIND = 4 * 1024 * 1024;

/** Parts of the session outside of the transcript. */
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
  | 'info';

/** One reader's list of changes. The model notes into it; the reader takes and empties it. */
export class Changes {
  /** By transcript index: `true` where the entry must be read anew, else the text that was appended to its last text block. */
  readonly entries = new Map<number, true | string>();
  /** By terminal id: the output that was appended, or the end of it. */
  readonly terminals = new Map<string, string>();
  readonly parts = new Set<SessionPart>();
  /** Nothing that the reader holds is valid: the transcript was emptied, or the reader is too far behind. Nothing more is noted until {@link reset}. */
  cleared = false;
  #behind = 0;
  readonly #wake: () => void;

  /** @param wake called on each change; it must be cheap and may be called many times before the changes are taken. */
  constructor(wake: () => void) {
    this.#wake = wake;
  }

  get isEmpty(): boolean {
    return this.entries.size === 0 && this.terminals.size === 0 && this.parts.size === 0 && !this.cleared;
  }

  entry(index: number): void {
    if (!this.cleared) {
      const known = this.entries.get(index);
      if (typeof known === 'string') this.#behind -= known.length;
      this.entries.set(index, true);
    }
    this.#wake();
  }

  appended(index: number, text: string): void {
    const known = this.entries.get(index);
    if (!this.cleared && known !== true) {
      this.entries.set(index, known === undefined ? text : known + text);
      this.#note(text.length);
    }
    this.#wake();
  }

  terminal(id: string, text: string): void {
    if (!this.cleared) {
      const known = this.terminals.get(id) ?? '';
      const whole = known + text;
      const kept = whole.length > 2 * MAX_TERMINAL_BEHIND ? tail(whole, MAX_TERMINAL_BEHIND) : whole;
      this.terminals.set(id, kept);
      this.#note(kept.length - known.length);
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

  /** Forgets everything noted so far. */
  reset(): void {
    this.entries.clear();
    this.terminals.clear();
    this.parts.clear();
    this.cleared = false;
    this.#behind = 0;
  }

  #note(chars: number): void {
    this.#behind += chars;
    if (this.#behind <= MAX_BEHIND) return;
    this.reset();
    this.cleared = true;
  }
}
