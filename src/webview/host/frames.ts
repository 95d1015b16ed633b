// The beat of the panel: what the host says is drawn once per frame within a budget, and acknowledged after it was painted.
import type { ToWebview } from '../../panel/contract';

/** Drawing takes at most about this long per frame, ms; the rest of the frame is for the browser's layout and the user's keys. */
const BUDGET = 7;

export interface FrameWork {
  /** Whether the end is followed. Where it is not, the reader's place is held over a frame, and all that could move it is drawn within one. */
  isAtEnd(): boolean;
  /** Takes in one message. @returns the revision that the panel is at now, or undefined if the message changes none */
  apply(message: ToWebview): number | undefined;
  /** Draws until `deadline`. @returns whether all is drawn */
  render(deadline: number): boolean;
  /** All up to `revision` is drawn: the document may say so. */
  drawn(revision: number): void;
  /** All up to `revision` was painted. */
  painted(revision: number): void;
}

/** The browser's frames. */
export interface Beat {
  /** Runs `frame` before the next picture is drawn. */
  next(frame: () => void): void;
  /** Called from within a frame: runs `then` when that frame was painted. */
  painted(then: () => void): void;
}

export class Frames {
  readonly #work: FrameWork;
  readonly #beat: Beat;
  #inbox: ToWebview[] = [];
  #scheduled = false;
  /** What a message brought was drawn at once, and is painted with the next frame. */
  #ahead = false;
  /** The panel itself has something to draw. */
  #due = false;
  /** Not all was drawn within the budget. */
  #behind = false;
  #keyDue = false;
  /** A key was pressed while nothing waited: until it is painted, what comes waits for the frame. */
  #typed = false;
  /** The last frame was left to a key; the answer is never put off twice in a row. */
  #yielded = false;
  #revision = -1;
  #drawn = -1;
  #painted = -1;

  constructor(work: FrameWork, beat: Beat) {
    this.#work = work;
    this.#beat = beat;
  }

  /** A key was pressed: the next frame is for what it typed, and what came from the agent waits for the one after. */
  yieldToKey(): void {
    this.#keyDue = this.#scheduled;
    if (this.#scheduled || this.#typed) return;
    this.#typed = true;
    this.#beat.next(() => {
      this.#typed = false;
    });
  }

  /**
   * A message came. At the end of the conversation the first one of a frame is drawn at once, while there is nothing else to do: the frame has only to paint it. Those
   * after it wait for the next.
   */
  receive(message: ToWebview): void {
    this.#inbox.push(message);
    if (this.#scheduled) return;
    this.#ask();
    // All but an update may lead the reader to another place; that is found within a frame.
    if (this.#typed || message.type !== 'update' || !this.#work.isAtEnd()) return;
    this.#ahead = true;
    this.#draw();
  }

  /** There is something to draw. */
  schedule(): void {
    this.#due = true;
    this.#ask();
  }

  #ask(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#beat.next(() => this.#frame());
  }

  #frame(): void {
    this.#scheduled = false;
    const yields = this.#keyDue && !this.#yielded && this.#hasMore;
    // Once per frame, but for what the reader has done: where they scroll to is drawn.
    const waits = yields || (this.#ahead && !this.#due);
    this.#keyDue = false;
    this.#yielded = yields;
    this.#ahead = false;
    if (!waits) this.#draw();
    if (this.#hasMore) this.#ask();
    this.#acknowledge();
  }

  get #hasMore(): boolean {
    return this.#due || this.#behind || this.#inbox.length > 0;
  }

  #draw(): void {
    let deadline = performance.now() + BUDGET;
    const inbox = this.#inbox;
    this.#inbox = [];
    for (const message of inbox) {
      const revision = this.#work.apply(message);
      if (revision === undefined) continue;
      if (message.type === 'snapshot') {
        this.#drawn = this.#painted = -1;
        // To take in a long session uses up the time of a frame, and an empty picture of it is worth nothing.
        deadline = performance.now() + BUDGET;
      }
      this.#revision = revision;
    }
    // What the messages have asked for; what comes up while it is drawn is for the next frame.
    this.#due = false;
    this.#behind = !this.#work.render(deadline);
    if (this.#behind || this.#drawn === this.#revision) return;
    this.#drawn = this.#revision;
    this.#work.drawn(this.#drawn);
  }

  /** What is drawn is painted with this frame. */
  #acknowledge(): void {
    if (this.#painted === this.#drawn) return;
    const drawn = this.#drawn;
    this.#beat.painted(() => {
      if (this.#painted === drawn) return;
      this.#painted = drawn;
      this.#work.painted(drawn);
    });
  }
}
