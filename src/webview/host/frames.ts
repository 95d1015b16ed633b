// Draws the host's messages once per frame within a time budget, and acknowledges them once
// painted.
import type { ToWebview } from '../../panel/contract';

/** Drawing time per frame, ms. The rest of the frame is for layout and keyboard input. */
const FRAME_BUDGET_MS = 7;

export interface FrameWork {
  readonly view: {
    /**
     * Unless at the end, the position is preserved across a frame, so moving changes are drawn in
     * one.
     */
    readonly isAtEnd: boolean;
    /** @returns whether everything is drawn */
    render(deadline: number): boolean;
  };
  /** @returns the new revision, if the message has one */
  apply(message: ToWebview): number | undefined;
  drawn(revision: number): void;
  /** Called when everything up to `revision` is painted. */
  painted(revision: number): void;
}

export interface FrameSource {
  next(frame: () => void): void;
  /** Calls `then` after the current frame is painted. */
  painted(then: () => void): void;
}

export class Frames {
  readonly #work: FrameWork;
  readonly #source: FrameSource;
  #inbox: ToWebview[] = [];
  #scheduled = false;
  #isDrawing = false;
  #due = false;
  /** Whether drawing exceeded the budget. */
  #behind = false;
  /** Remaining drawing time until the next frame, ms. */
  #budget = FRAME_BUDGET_MS;
  #keyDue = false;
  /** Whether a key was pressed while nothing was scheduled: messages wait until it is painted. */
  #typed = false;
  /** Whether the last message was deferred; never twice in a row. */
  #yielded = false;
  #revision = -1;
  #drawn = -1;
  #painted = -1;

  constructor(work: FrameWork, source: FrameSource) {
    this.#work = work;
    this.#source = source;
  }

  /** Draws typed text in the next frame and messages in the one after. */
  yieldToKey(): void {
    this.#keyDue = this.#scheduled;
    if (this.#scheduled || this.#typed) return;
    this.#typed = true;
    this.#source.next(() => {
      this.#typed = false;
    });
  }

  /** Draws updates immediately while the budget lasts, so that the frame only has to paint them. */
  receive(message: ToWebview): void {
    this.#inbox.push(message);
    this.#ask();
    if (this.#typed || this.#keyDue || this.#behind || this.#budget <= 0) return;
    // Other messages can change the scroll position, which is measured within a frame.
    if (this.#work.view.isAtEnd && this.#inbox.every(({ type }) => type === 'update')) this.#draw();
  }

  schedule(): void {
    this.#due = true;
    if (!this.#isDrawing) this.#ask();
  }

  #ask(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#source.next(() => this.#frame());
  }

  #frame(): void {
    this.#scheduled = false;
    const yields = this.#keyDue && !this.#yielded && this.#hasMore;
    this.#keyDue = false;
    this.#yielded = yields;
    if (!yields && this.#hasMore && (this.#due || this.#budget > 0)) this.#draw();
    this.#budget = FRAME_BUDGET_MS;
    if (this.#hasMore) this.#ask();
    this.#acknowledge();
  }

  get #hasMore(): boolean {
    return this.#due || this.#behind || this.#inbox.length > 0;
  }

  #draw(): void {
    const begin = performance.now();
    this.#isDrawing = true;
    try {
      this.#drawUntil(begin + Math.max(0, this.#budget));
    } finally {
      this.#isDrawing = false;
      this.#budget -= performance.now() - begin;
    }
  }

  #drawUntil(end: number): void {
    let deadline = end;
    const inbox = this.#inbox;
    this.#inbox = [];
    for (const message of inbox) {
      const revision = this.#work.apply(message);
      if (revision === undefined) continue;
      if (message.type === 'snapshot') {
        this.#drawn = this.#painted = -1;
        // Applying a long session uses up the budget.
        deadline = performance.now() + FRAME_BUDGET_MS;
      }
      this.#revision = revision;
    }
    this.#due = false;
    this.#behind = !this.#work.view.render(deadline);
    if (this.#behind || this.#drawn === this.#revision) return;
    this.#drawn = this.#revision;
    this.#work.drawn(this.#drawn);
  }

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

export function browserFrames(): FrameSource {
  let waiting: (() => void)[] = [];
  const channel = new MessageChannel();
  // Messages posted within a frame arrive after it is painted.
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
