// Reads the transcript of a stored session in small steps, beginning when the user focuses its row
// in the list, so that most of it is read when they choose it.
import { SessionModel } from '../../session/model/model';
import type { Cursor } from '../../store/events/eventRows';
import type { Journal } from '../../store/journal';

/**
 * Rows and their bytes that are read at once; outputs of tools are up to ten times as much text as
 * they are bytes.
 */
const ROWS = 200;
const BYTES = 64 * 1024;
/** How long a part of the reading takes, in milliseconds, before everything else has its turn. */
const SLICE_MS = 6;

export class TranscriptReading {
  readonly key: string;
  readonly #journal: Journal;
  readonly #from: number;
  #model = new SessionModel();
  #cursor: Cursor | undefined;
  #rows = 0;

  /**
   * @param key of a session; of one that the journal does not know the transcript is empty
   * @param from the first row that is read
   */
  constructor(journal: Journal, key: string, from = 1) {
    this.#journal = journal;
    this.key = key;
    this.#from = from;
  }

  /** About how many rows were read so far. */
  get rows(): number {
    return this.#rows;
  }

  /**
   * Reads on for a few milliseconds. @param to the last row that is read
   * @returns whether there may be more @throws ParleyError `journal-unreadable`, `journal-closed`
   */
  advance(to = Number.MAX_SAFE_INTEGER): boolean {
    const until = performance.now() + SLICE_MS;
    while (this.#readPage(to)) if (performance.now() >= until) return true;
    return false;
  }

  /**
   * Reads the rest.
   * @returns what all events make that the journal has now; the caller's own from now on, so this
   * is called once
   * @throws as {@link advance}
   */
  finish(): SessionModel {
    while (this.advance()) {
      // Until nothing is left.
    }
    return this.#model;
  }

  /** The same up to a row, with everything else between the parts. @throws as {@link advance} */
  async finishSlowly(to: number): Promise<SessionModel> {
    while (this.advance(to)) await new Promise((resolve) => setImmediate(resolve));
    return this.#model;
  }

  #readPage(to: number): boolean {
    const from = this.#cursor;
    const query = { limit: ROWS, maxBytes: BYTES, to, ...(from ? { after: from } : { from: this.#from }) };
    const page = this.#journal.events(this.key, query);
    // The last row that was read is read again, as it may have grown. Where it is gone, another
    // window has rewritten the session: what was read is not it any more.
    if (from && page.firstSeq !== from.seq) {
      this.#model = new SessionModel();
      this.#cursor = undefined;
      this.#rows = 0;
      return true;
    }
    for (const { at, event } of page.events) this.#model.apply(event, at);
    this.#cursor = page.cursor;
    this.#rows += page.lastSeq - page.firstSeq;
    return page.lastSeq !== from?.seq;
  }
}
