// Draws a MarkdownDoc. Closed pieces are drawn once; only the open end is redrawn, once per frame.
// Segments far from the viewport are replaced by boxes of their height, and redrawn when they come
// near.
import type { Disposable } from '../../base/disposable';
import { el } from '../dom/dom';
import { isInUse, watchSelection } from '../dom/selection';
import type { ViewportWatcher } from '../dom/viewport';
import { isNote, MarkdownDoc, type Piece, type Segment, sizeOf } from './markdownDoc';
import { PiecePainter } from './piecePainter';
import { linkNoteReference, type MarkdownContext, showFold } from './renderBlocks';

export interface MarkdownViewContext extends Omit<MarkdownContext, 'toggleFold' | 'showNote' | 'hasNote'> {
  readonly viewport: ViewportWatcher;
  invalidate(): void;
  readonly columns: () => number;
  keepInView(node: Element): void;
}

type SegmentContext = MarkdownContext & Pick<MarkdownViewContext, 'viewport' | 'columns'>;

const SLICE = 16_384;
/** Segments at the end that are drawn immediately. Others are drawn when they come near. */
const EAGER_SEGMENTS = 2;
const MEASURED_PER_FRAME = 6;
const LINE_HEIGHT = 20;
/** Interval of drawing in a flood, ms. */
const FLOOD_INTERVAL_MS = 100;

export class MarkdownView implements Disposable {
  readonly element = el('div', 'markdown');
  readonly doc: MarkdownDoc;
  readonly #context: MarkdownViewContext;
  readonly #inner: SegmentContext;
  readonly #views: SegmentView[] = [];
  #backlog: string;
  #settled = false;
  #drawnAt = 0;
  #noteCount = 0;

  /** @param doc the parsed text, if it was drawn before */
  constructor(context: MarkdownViewContext, text: string, doc = new MarkdownDoc()) {
    this.#context = context;
    this.doc = doc;
    this.#inner = {
      ...context,
      toggleFold: (id) => this.#toggleFold(id),
      showNote: (label, isBack) => this.#showNote(label, isBack),
      hasNote: (label) => doc.hasNote(label),
    };
    this.#backlog = text.slice(doc.length);
  }

  append(text: string): void {
    this.#backlog += text;
    this.#settled = false;
  }

  settle(): void {
    this.#settled = true;
  }

  /**
   * @param deadline of `performance.now()`; the rest is drawn in the next frame
   * @returns whether everything is drawn
   */
  render(deadline: number): boolean {
    while (this.#backlog) {
      const slice = this.#backlog.slice(0, SLICE);
      this.#backlog = this.#backlog.slice(slice.length);
      this.doc.append(slice);
      if (this.#backlog && performance.now() > deadline) break;
    }
    const complete = this.#backlog === '';
    // In a flood, most of it will have left the screen by the next frame.
    const now = performance.now();
    if (!complete && now - this.#drawnAt < FLOOD_INTERVAL_MS) return false;
    this.#drawnAt = now;
    if (complete && this.#settled) this.doc.settle();
    const { segments } = this.doc;
    // Drawn segments stay, as the user may be reading them. New segments above the end only get
    // their height.
    const eager = segments.length - EAGER_SEGMENTS;
    const start = Math.max(0, this.#views.length - 1);
    for (let index = start; index < segments.length; index++) {
      let view = this.#views[index];
      if (!view) {
        this.#views[index - 1]?.setTail([], true);
        view = new SegmentView(segments[index]!, index >= eager, this.#inner, this.doc);
        this.#views.push(view);
        this.element.append(view.element);
      }
      view.paint();
    }
    this.#views.at(-1)?.setTail(this.doc.open, this.#settled);
    this.#linkNotes();
    return complete;
  }

  /**
   * Draws some of the segments with estimated heights.
   * @returns whether there were any
   */
  drawWhole(): boolean {
    let drawn = 0;
    for (const view of this.#views) {
      if (view.drawOnce()) drawn++;
      if (drawn === MEASURED_PER_FRAME) break;
    }
    return drawn > 0;
  }

  dispose(): void {
    for (const view of this.#views) view.dispose();
  }

  #toggleFold(id: number): void {
    this.#context.unpin();
    this.doc.folds.toggle(id);
    for (const view of this.#views) view.refold(id);
  }

  /** Links references whose footnotes arrived later. */
  #linkNotes(): void {
    const { noteCount } = this.doc;
    if (noteCount === this.#noteCount) return;
    this.#noteCount = noteCount;
    for (const text of this.element.querySelectorAll<HTMLElement>('span.note-reference'))
      if (this.doc.hasNote(text.dataset.note!)) linkNoteReference(text, this.#inner);
  }

  #showNote(label: string, isBack: boolean): void {
    const has = (piece: Piece): boolean =>
      isBack
        ? !isNote(piece) && JSON.stringify(piece).includes(`[^${label}]`)
        : isNote(piece) && piece.block.label === label;
    const { segments, open } = this.doc;
    const piece = [...segments.flatMap(({ pieces }) => pieces), ...open].find(has);
    for (const id of piece?.folds ?? []) if (!this.doc.folds.isOpen(id)) this.#toggleFold(id);
    // If not found, it is in the open end.
    this.#views.at(segments.findIndex(({ pieces }) => pieces.some(has)))?.drawNow();
    const places = this.element.querySelectorAll<HTMLElement>(isBack ? 'a.note-reference' : '.footnote');
    const target = [...places].find(({ dataset }) => dataset.note === label);
    if (!target) return;
    this.#context.keepInView(target);
    (isBack ? target : target.querySelector('a'))?.focus({ preventScroll: true });
  }
}

/** A segment: drawn, or an empty box of its height. */
class SegmentView implements Disposable {
  readonly element = el('div', 'segment');
  readonly #segment: Segment;
  readonly #context: SegmentContext;
  readonly doc: MarkdownDoc;
  readonly #subscriptions: readonly Disposable[];
  #painter: PiecePainter | undefined;
  #painted = 0;
  #isMeasured = false;
  #measuredPieces = 0;
  #tail: Parameters<PiecePainter['setTail']> = [[], true];

  constructor(segment: Segment, drawn: boolean, context: SegmentContext, doc: MarkdownDoc) {
    this.#segment = segment;
    this.#context = context;
    this.doc = doc;
    if (drawn) this.#mount();
    else this.#replaceByBox(this.#estimate(), false);
    const near = context.viewport.watch(this.element, (isNear, height) => {
      if (isNear && !this.#painter) {
        this.#draw();
      } else if (!isNear && this.#painter && height > 0 && !isInUse(this.element)) {
        this.#replaceByBox(height, true);
      }
    });
    const selection = watchSelection(this.element, (isTouched) => {
      if (isTouched && !this.#painter) this.#draw();
      if (!isTouched) context.viewport.reobserve(this.element);
    });
    this.#subscriptions = [near, selection];
  }

  paint(): void {
    const { pieces } = this.#segment;
    if (!this.#painter) {
      if (this.#measuredPieces !== pieces.length) this.#replaceByBox(this.#estimate(), false);
      return;
    }
    if (this.#painted < pieces.length) this.#painter.giveUpTail();
    while (this.#painted < pieces.length) this.#painter.paint(pieces[this.#painted++]!);
  }

  setTail(...tail: Parameters<PiecePainter['setTail']>): void {
    if (!this.#painter && this.#tail[0].length !== tail[0].length) this.#isMeasured = false;
    this.#tail = tail;
    this.#painter?.setTail(...tail);
  }

  drawOnce(): boolean {
    if (this.#isMeasured || this.#painter) return false;
    this.drawNow();
    return true;
  }

  /** Draws the segment until it is far from the viewport. */
  drawNow(): void {
    if (this.#painter) return;
    this.#draw();
    this.#context.viewport.reobserve(this.element);
  }

  refold(id: number): void {
    const { folds } = this.doc;
    if (!this.#painter) {
      if (this.#segment.pieces.some((piece) => piece.folds?.includes(id))) this.#replaceByBox(this.#estimate(), false);
      return;
    }
    for (const line of this.element.querySelectorAll<HTMLElement>('.fold-line'))
      showFold(line, folds.isOpen(Number(line.dataset.fold)));
    for (const node of this.element.querySelectorAll<HTMLElement>('[data-folds]'))
      node.hidden = !node.dataset.folds!.split(' ').every((fold) => folds.isOpen(Number(fold)));
  }

  dispose(): void {
    for (const watch of this.#subscriptions) watch.dispose();
  }

  #draw(): void {
    this.#mount();
    this.paint();
    this.#painter?.setTail(...this.#tail);
  }

  #mount(): void {
    this.element.style.height = '';
    this.#painter = new PiecePainter(this.element, this.#context, this.doc);
    this.#painted = 0;
  }

  #replaceByBox(height: number, isMeasured: boolean): void {
    this.#isMeasured = isMeasured;
    this.#measuredPieces = this.#segment.pieces.length;
    this.#painter = undefined;
    this.element.replaceChildren();
    this.element.style.height = `${height}px`;
  }

  #estimate(): number {
    const columns = this.#context.columns();
    let lines = 0;
    for (const piece of this.#segment.pieces) {
      if (this.doc.folds.isHidden(piece)) continue;
      lines += piece.kind === 'code' ? piece.text.split('\n').length : Math.ceil(sizeOf(piece) / columns) + 0.4;
    }
    return Math.round(lines * LINE_HEIGHT);
  }
}
