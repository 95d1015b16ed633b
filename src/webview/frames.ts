// The beat of the panel: messages wait until the next frame, are applied together, drawn within a budget, and acknowledged after they were painted.
import type { ToWebview } from '../panel/contract';

/** Drawing takes at most about this long per frame, ms; the rest of the frame is for the browser's layout and the user's keys. */
const BUDGET = 7;

export interface FrameWork {
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
  #keyDue = false;
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
  }

  /** A message came. It is looked at in the next frame. */
  receive(message: ToWebview): void {
    this.#inbox.push(message);
    this.schedule();
  }

  /** There is something to draw. */
  schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#beat.next(() => this.#frame());
  }

  #frame(): void {
    this.#scheduled = false;
    const yields = this.#keyDue && !this.#yielded;
    this.#keyDue = false;
    this.#yielded = yields;
    if (yields) {
      this.schedule();
      return;
    }
    const deadline = performance.now() + BUDGET;
    const inbox = this.#inbox;
    this.#inbox = [];
    for (const message of inbox) {
      const revision = this.#work.apply(message);
      if (revision === undefined) continue;
      if (message.type === 'snapshot') this.#drawn = this.#painted = -1;
      this.#revision = revision;
    }
    if (!this.#work.render(deadline)) {
      this.schedule();
      return;
    }
    if (this.#drawn === this.#revision) return;
    this.#drawn = this.#revision;
    this.#work.drawn(this.#drawn);
    this.#beat.painted(() => this.#onPainted());
  }

  #onPainted(): void {
    if (this.#painted === this.#drawn) return;
    this.#painted = this.#drawn;
    this.#work.painted(this.#painted);
  }
}
