// Draws a MarkdownDoc. Closed pieces are drawn once; only the open end is drawn anew, once per frame. Segments that scroll far away leave the page and keep their
// height; they are drawn again from their source when they come near.
import { type Disposable, DisposableStore } from '../../base/disposable';
import { el } from '../dom/dom';
import type { NearWatcher } from '../dom/near';
import { isInUse, watchSelection } from '../dom/selection';
import { MarkdownDoc, type Segment, sizeOf } from './markdownDoc';
import { PiecePainter } from './piecePainter';
import type { MarkdownContext } from './renderBlocks';

/** What a view needs from the panel around it. */
export interface MarkdownViewContext extends MarkdownContext {
  readonly near: NearWatcher;
  /** Something is to be drawn: call `render` in the next frame. */
  invalidate(): void;
  /** Characters that fit in one line, roughly. */
  readonly columns: () => number;
}

/** Characters parsed at a time between two looks at the clock. */
const SLICE = 16_384;
/** Of a message that is new or arrives in a flood, this many segments at the end are drawn at once; the others wait until they come near. */
const EAGER = 2;
/** Segments that are drawn for their heights in one frame. */
const DRAWN_AT_ONCE = 6;
const LINE_HEIGHT = 20;
/** While there is more to parse than a frame can take, drawing rests this long, ms. */
const FLOOD_PAUSE = 100;

/** One text of Markdown in the page. */
export class MarkdownView implements Disposable {
  readonly element = el('div', 'markdown');
  readonly #doc: MarkdownDoc;
  readonly #context: MarkdownViewContext;
  readonly #views: SegmentView[] = [];
  readonly #disposables = new DisposableStore();
  #backlog: string;
  #settled = false;
  #drawnAt = 0;

  /** @param doc where the text was shown before: what it knows is kept, so that showing it again is cheap */
  constructor(context: MarkdownViewContext, text: string, doc = new MarkdownDoc()) {
    this.#context = context;
    this.#doc = doc;
    this.#backlog = text.slice(doc.length);
  }

  get doc(): MarkdownDoc {
    return this.#doc;
  }

  append(text: string): void {
    this.#backlog += text;
    this.#settled = false;
  }

  /** Nothing more is expected: the open end counts as complete. */
  settle(): void {
    this.#settled = true;
  }

  /**
   * Draws what is new. @param deadline of `performance.now()`, after which the rest is left for the next frame
   * @returns whether all is drawn
   */
  render(deadline: number): boolean {
    while (this.#backlog) {
      const slice = this.#backlog.slice(0, SLICE);
      this.#backlog = this.#backlog.slice(slice.length);
      this.#doc.append(slice);
      if (this.#backlog && performance.now() > deadline) break;
    }
    const complete = this.#backlog === '';
    // In a flood, most of what could be drawn now will have left the screen with the next frame.
    const now = performance.now();
    if (!complete && now - this.#drawnAt < FLOOD_PAUSE) return false;
    this.#drawnAt = now;
    if (complete && this.#settled) this.#doc.settle();
    const { segments } = this.#doc;
    // Text that is being read must not jump, so what is drawn stays; what is new and already left behind is only given room.
    const eager = segments.length - EAGER;
    const start = Math.max(0, this.#views.length - 1);
    for (let index = start; index < segments.length; index++) {
      let view = this.#views[index];
      if (!view) {
        this.#views[index - 1]?.setTail([], true);
        view = new SegmentView(segments[index]!, index >= eager, this.#context, this.#doc);
        this.#views.push(view);
        this.element.append(view.element);
        this.#disposables.add(view);
      }
      view.paint();
    }
    this.#views.at(-1)?.setTail(this.#doc.open, this.#settled);
    return complete;
  }

  /**
   * Draws once what was only given room so far, so that heights within the text are real; a part of it per call, for a frame has no time for all of a long text.
   * @returns whether there was any: then there may be more
   */
  drawWhole(): boolean {
    let drawn = 0;
    for (const view of this.#views) {
      if (view.drawOnce()) drawn++;
      if (drawn === DRAWN_AT_ONCE) break;
    }
    return drawn > 0;
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}

/** One segment: in the page with its content, or only its height. */
class SegmentView implements Disposable {
  readonly element = el('div', 'segment');
  readonly #segment: Segment;
  readonly #context: MarkdownViewContext;
  readonly #doc: MarkdownDoc;
  readonly #watches: readonly Disposable[];
  #painter: PiecePainter | undefined;
  #painted = 0;
  /** It was drawn as it is now, so its height is known. */
  #known = false;
  /** Pieces that its height stands for. */
  #sized = 0;
  #tail: Parameters<PiecePainter['setTail']> = [[], true];

  constructor(segment: Segment, drawn: boolean, context: MarkdownViewContext, doc: MarkdownDoc) {
    this.#segment = segment;
    this.#context = context;
    this.#doc = doc;
    if (drawn) this.#mount();
    else this.#leave(this.#estimate(), false);
    const near = context.near.watch(this.element, (isNear, height) => {
      if (isNear && !this.#painter) {
        this.#draw();
      } else if (!isNear && this.#painter && height > 0 && !isInUse(this.element)) {
        this.#leave(height, true);
      }
    });
    const selection = watchSelection(this.element, (isTouched) => {
      if (isTouched && !this.#painter) this.#draw();
      // It leaves again where it is far away.
      if (!isTouched) context.near.renew(this.element);
    });
    this.#watches = [near, selection];
  }

  paint(): void {
    const { pieces } = this.#segment;
    if (!this.#painter) {
      // It left the page before it was full.
      if (this.#sized !== pieces.length) this.#leave(this.#estimate(), false);
      return;
    }
    if (this.#painted < pieces.length) this.#painter.giveUpTail();
    while (this.#painted < pieces.length) this.#painter.paint(pieces[this.#painted++]!);
  }

  setTail(...tail: Parameters<PiecePainter['setTail']>): void {
    if (!this.#painter && this.#tail[0].length !== tail[0].length) this.#known = false;
    this.#tail = tail;
    this.#painter?.setTail(...tail);
  }

  /** @returns whether it was not drawn before. It leaves the page again where it is far away. */
  drawOnce(): boolean {
    if (this.#known || this.#painter) return false;
    this.#draw();
    this.#context.near.renew(this.element);
    return true;
  }

  dispose(): void {
    for (const watch of this.#watches) watch.dispose();
  }

  #draw(): void {
    this.#mount();
    this.paint();
    this.#painter?.setTail(...this.#tail);
  }

  #mount(): void {
    this.element.style.height = '';
    this.#painter = new PiecePainter(this.element, this.#context, this.#doc);
    this.#painted = 0;
  }

  #leave(height: number, known: boolean): void {
    this.#known = known;
    this.#sized = this.#segment.pieces.length;
    this.#painter = undefined;
    this.element.replaceChildren();
    this.element.style.height = `${height}px`;
  }

  #estimate(): number {
    const columns = this.#context.columns();
    let lines = 0;
    for (const piece of this.#segment.pieces) {
      lines += piece.kind === 'code' ? piece.text.split('\n').length : Math.ceil(sizeOf(piece) / columns) + 0.4;
    }
    return Math.round(lines * LINE_HEIGHT);
  }
}
