// Draws the host's messages once per frame within a budget, and acknowledges them once painted.
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
  painted(revision: number): void;
}

export interface FrameSource {
  next(frame: () => void): void;
  painted(then: () => void): void;
}

export class Frames {
  readonly #work: FrameWork;
  readonly #source: FrameSource;
  #inbox: ToWebview[] = [];
  #isFrameRequested = false;
  #isDrawing = false;
  #isRenderDue = false;
  #isOverBudget = false;
  #budget = FRAME_BUDGET_MS;
  #yieldsNextFrame = false;
  /** Whether a key was pressed while nothing was scheduled: messages wait until it is painted. */
  #isKeyPending = false;
  /** Whether the last message was deferred; never twice in a row. */
  #hasYielded = false;
  #revision = -1;
  #drawnRevision = -1;
  #paintedRevision = -1;

  constructor(work: FrameWork, source: FrameSource) {
    this.#work = work;
    this.#source = source;
  }

  /** Draws typed text in the next frame and messages in the one after. */
  yieldToKey(): void {
    this.#yieldsNextFrame = this.#isFrameRequested;
    if (this.#isFrameRequested || this.#isKeyPending) return;
    this.#isKeyPending = true;
    this.#source.next(() => {
      this.#isKeyPending = false;
    });
  }

  /** Draws updates immediately while the budget lasts, so that the frame only has to paint them. */
  receive(message: ToWebview): void {
    this.#inbox.push(message);
    this.#requestFrame();
    if (this.#isKeyPending || this.#yieldsNextFrame || this.#isOverBudget || this.#budget <= 0) return;
    // Other messages can change the scroll position, which is measured within a frame.
    if (this.#work.view.isAtEnd && this.#inbox.every(({ type }) => type === 'update')) this.#draw();
  }

  schedule(): void {
    this.#isRenderDue = true;
    if (!this.#isDrawing) this.#requestFrame();
  }

  #requestFrame(): void {
    if (this.#isFrameRequested) return;
    this.#isFrameRequested = true;
    this.#source.next(() => this.#frame());
  }

  #frame(): void {
    this.#isFrameRequested = false;
    const isDeferred = this.#yieldsNextFrame && !this.#hasYielded && this.#hasWork;
    this.#yieldsNextFrame = false;
    this.#hasYielded = isDeferred;
    if (!isDeferred && this.#hasWork && (this.#isRenderDue || this.#budget > 0)) this.#draw();
    this.#budget = FRAME_BUDGET_MS;
    if (this.#hasWork) this.#requestFrame();
    this.#acknowledge();
  }

  get #hasWork(): boolean {
    return this.#isRenderDue || this.#isOverBudget || this.#inbox.length > 0;
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
        this.#drawnRevision = this.#paintedRevision = -1;
        // Applying a long session uses up the budget.
        deadline = performance.now() + FRAME_BUDGET_MS;
      }
      this.#revision = revision;
    }
    this.#isRenderDue = false;
    this.#isOverBudget = !this.#work.view.render(deadline);
    if (this.#isOverBudget || this.#drawnRevision === this.#revision) return;
    this.#drawnRevision = this.#revision;
    this.#work.drawn(this.#drawnRevision);
  }

  #acknowledge(): void {
    if (this.#paintedRevision === this.#drawnRevision) return;
    const drawn = this.#drawnRevision;
    this.#source.painted(() => {
      if (this.#paintedRevision === drawn) return;
      this.#paintedRevision = drawn;
      this.#work.painted(drawn);
    });
  }
}

export function browserFrames(): FrameSource {
  let callbacks: (() => void)[] = [];
  const channel = new MessageChannel();
  // Messages posted within a frame arrive after it is painted.
  channel.port1.onmessage = () => {
    const due = callbacks;
    callbacks = [];
    for (const then of due) then();
  };
  return {
    next: (frame) => requestAnimationFrame(frame),
    painted(then) {
      callbacks.push(then);
      channel.port2.postMessage(0);
    },
  };
}
