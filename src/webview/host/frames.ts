// Draws messages of the host once per frame within a time budget, and acknowledges them after they
// were painted.
import type { ToWebview } from '../../panel/contract';

/** Maximum drawing time per frame, ms. The rest of the frame is for layout and keyboard input. */
const FRAME_BUDGET_MS = 7;

export interface FrameWork {
  /**
   * Whether the view follows the end of the transcript. If not, the scroll position is preserved
   * across a frame, so everything that can move it must be drawn within one.
   */
  isAtEnd(): boolean;
  /**
   * Applies a message.
   * @returns the revision of the panel now, or undefined if the message has none
   */
  apply(message: ToWebview): number | undefined;
  /**
   * Draws until `deadline`.
   * @returns whether everything is drawn
   */
  render(deadline: number): boolean;
  /** Called when everything up to `revision` is drawn, to update the document. */
  drawn(revision: number): void;
  /** Called when everything up to `revision` is painted. */
  painted(revision: number): void;
}

/** The browser's animation frames. */
export interface FrameSource {
  /** Runs `frame` before the next paint. */
  next(frame: () => void): void;
  /** Runs `then` after the current frame was painted. Called from within a frame. */
  painted(then: () => void): void;
}

export class Frames {
  readonly #work: FrameWork;
  readonly #source: FrameSource;
  #inbox: ToWebview[] = [];
  #scheduled = false;
  /** A message was drawn before its frame and will be painted with it. */
  #ahead = false;
  /** The panel itself has something to draw. */
  #due = false;
  /** Drawing did not finish within the budget. */
  #behind = false;
  #keyDue = false;
  /**
   * A key was pressed while nothing was scheduled: until it is painted, messages wait for the
   * frame.
   */
  #typed = false;
  /** The last frame was left to a key; messages are never deferred twice in a row. */
  #yielded = false;
  #revision = -1;
  #drawn = -1;
  #painted = -1;

  constructor(work: FrameWork, source: FrameSource) {
    this.#work = work;
    this.#source = source;
  }

  /**
   * Call on a key press: the next frame draws what was typed, and messages of the agent wait for
   * the one after.
   */
  yieldToKey(): void {
    this.#keyDue = this.#scheduled;
    if (this.#scheduled || this.#typed) return;
    this.#typed = true;
    this.#source.next(() => {
      this.#typed = false;
    });
  }

  /**
   * Receives a message. If the view follows the end and nothing is scheduled, the first message is
   * drawn immediately, so that the frame only has to paint it. Later ones wait for the next frame.
   */
  receive(message: ToWebview): void {
    this.#inbox.push(message);
    if (this.#scheduled) return;
    this.#ask();
    // Messages other than updates can change the scroll position, which is measured within a frame.
    if (this.#typed || message.type !== 'update' || !this.#work.isAtEnd()) return;
    this.#ahead = true;
    this.#draw();
  }

  /** Requests drawing in the next frame. */
  schedule(): void {
    this.#due = true;
    this.#ask();
  }

  #ask(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#source.next(() => this.#frame());
  }

  #frame(): void {
    this.#scheduled = false;
    const yields = this.#keyDue && !this.#yielded && this.#hasMore;
    // Once per frame, except after scrolling by the user.
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
    let deadline = performance.now() + FRAME_BUDGET_MS;
    const inbox = this.#inbox;
    this.#inbox = [];
    for (const message of inbox) {
      const revision = this.#work.apply(message);
      if (revision === undefined) continue;
      if (message.type === 'snapshot') {
        this.#drawn = this.#painted = -1;
        // Applying a long session uses up the budget of a frame, so restart it to draw some of the
        // session.
        deadline = performance.now() + FRAME_BUDGET_MS;
      }
      this.#revision = revision;
    }
    // Reset before rendering, which can request another frame.
    this.#due = false;
    this.#behind = !this.#work.render(deadline);
    if (this.#behind || this.#drawn === this.#revision) return;
    this.#drawn = this.#revision;
    this.#work.drawn(this.#drawn);
  }

  /** Acknowledges what is drawn once this frame is painted. */
  #acknowledge(): void {
    if (this.#painted === this.#drawn) return;
    const drawn = this.#drawn;
    this.#source.painted(() => {
      if (this.#painted === drawn) return;
      this.#painted = drawn;
      this.#work.painted(drawn);
    });
  }
}

/** Returns the frames of the browser that shows the page. */
export function browserFrames(): FrameSource {
  let waiting: (() => void)[] = [];
  const channel = new MessageChannel();
  // A message posted within a frame arrives after the frame was painted.
  channel.port1.onmessage = () => {
    const now = waiting;
    waiting = [];
    for (const then of now) then();
  };
  return {
    next: (frame) => requestAnimationFrame(frame),
    painted(then) {
      waiting.push(then);
      channel.port2.postMessage(0);
    },
  };
}
