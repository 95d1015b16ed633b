// What changed since somebody last looked, coalesced: the cost of drawing depends on what changed, never on how long the session is.

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
  /** By terminal id: the output that was appended. */
  readonly terminals = new Map<string, string>();
  readonly parts = new Set<SessionPart>();
  /** The transcript was emptied: nothing that the reader holds is valid. */
  cleared = false;
  readonly #wake: () => void;

  /** @param wake called on each change; it must be cheap and may be called many times before the changes are taken. */
  constructor(wake: () => void) {
    this.#wake = wake;
  }

  get isEmpty(): boolean {
    return this.entries.size === 0 && this.terminals.size === 0 && this.parts.size === 0 && !this.cleared;
  }

  entry(index: number): void {
    this.entries.set(index, true);
    this.#wake();
  }

  appended(index: number, text: string): void {
    const known = this.entries.get(index);
    if (known !== true) this.entries.set(index, known === undefined ? text : known + text);
    this.#wake();
  }

  terminal(id: string, text: string): void {
    this.terminals.set(id, (this.terminals.get(id) ?? '') + text);
    this.#wake();
  }

  part(part: SessionPart): void {
    this.parts.add(part);
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
  }
}
