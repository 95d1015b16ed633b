// Reads a stored transcript in small steps, starting when its row in the list gets the focus.
import { SessionModel } from '../../session/model/model';
import type { Cursor } from '../../store/events/eventRows';
import type { Journal } from '../../store/journal';

/** Rows and bytes per step. Tool outputs can be ten times as much text once read. */
const ROWS = 200;
const BYTES = 64 * 1024;
const SLICE_MS = 6;

export class TranscriptReading {
  readonly key: string;
  readonly #journal: Journal;
  readonly #startSeq: number;
  #model = new SessionModel();
  #cursor: Cursor | undefined;
  #rowsRead = 0;

  constructor(journal: Journal, key: string, from = 1) {
    this.#journal = journal;
    this.key = key;
    this.#startSeq = from;
  }

  get rows(): number {
    return this.#rowsRead;
  }

  /**
   * @param to the last row to read @returns whether there may be more
   * @throws ParleyError `journal-unreadable`, `journal-closed`
   */
  advance(to = Number.MAX_SAFE_INTEGER): boolean {
    const until = performance.now() + SLICE_MS;
    while (this.#readPage(to)) if (performance.now() >= until) return true;
    return false;
  }

  /** Reads the rest. Call it once: the caller then owns the model. */
  finish(): SessionModel {
    while (this.advance()) {
      // Until nothing is left.
    }
    return this.#model;
  }

  /** Like {@link finish}, up to a row and in small steps. */
  async finishSlowly(to: number): Promise<SessionModel> {
    while (this.advance(to)) await new Promise((resolve) => setImmediate(resolve));
    return this.#model;
  }

  #readPage(to: number): boolean {
    const from = this.#cursor;
    const query = { limit: ROWS, maxBytes: BYTES, to, ...(from ? { after: from } : { from: this.#startSeq }) };
    const page = this.#journal.events(this.key, query);
    // Read the last row again, as it may have grown. If it no longer exists, another window has
    // rewritten the session.
    if (from && page.firstSeq !== from.seq) {
      this.#model = new SessionModel();
      this.#cursor = undefined;
      this.#rowsRead = 0;
      return true;
    }
    for (const { at, event } of page.events) this.#model.apply(event, at);
    this.#cursor = page.cursor;
    this.#rowsRead += page.lastSeq - page.firstSeq;
    return page.lastSeq !== from?.seq;
  }
}
