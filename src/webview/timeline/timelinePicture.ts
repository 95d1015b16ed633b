// The picture of the timeline: a canvas of the visible range, drawn at most once per frame.
import type { TimelineCall, TimelineTurn } from '../../panel/contract';
import { el, setAttributes } from '../dom/dom';
import { strings } from '../text/strings';
import { type Lane, lanesOf } from './lanes';
import { kindOf } from './legend';
import { TimeAxis } from './timeAxis';
import type { TimelineData } from './timelineData';

/** px */
const HEAD = 18;
const WAITS = 8;
const LANE = 14;
const CONTEXT = 18;
const BAR = 11;
const LEAST_BAR = 2;
const LABEL = 44;
const REACH = 3;
const DRAG = 4;
const MIN_RANGE = 200;
const ZOOM = 1.5;

export interface PictureOptions {
  onChoose(chosen: TimelineCall | TimelineTurn): void;
  nameOf(call: TimelineCall): string;
  colours(): ReadonlyMap<string, string>;
}

export class TimelinePicture {
  readonly element = setAttributes(el('canvas', 'timeline-picture'), { role: 'img' });
  readonly #options: PictureOptions;
  readonly #context = this.element.getContext('2d')!;
  #axis = new TimeAxis([]);
  #lanes: readonly Lane[] = [];
  #turns: readonly TimelineTurn[] = [];
  #hasContext = false;
  #now = 0;
  /** Start of the visible range, ms; an infinite range shows everything. */
  #from = 0;
  #visibleLength = Number.POSITIVE_INFINITY;
  #selected: TimelineCall | undefined;
  #colours: ReadonlyMap<string, string> = new Map();
  #frame: number | undefined;
  #drag: { readonly x: number; readonly from: number; isMoved: boolean } | undefined;

  constructor(options: PictureOptions) {
    this.#options = options;
    new ResizeObserver(() => this.#schedule()).observe(this.element);
    // The theme has changed.
    new MutationObserver(() => this.refreshColours()).observe(document.documentElement, {
      attributeFilter: ['style', 'class'],
    });
    new MutationObserver(() => this.refreshColours()).observe(document.body, { attributeFilter: ['style', 'class'] });
    this.#listen();
  }

  show(data: TimelineData): void {
    const left = this.#axis.timeAt(this.#from);
    const { turns, calls, now } = data;
    this.#now = now;
    this.#turns = turns;
    this.#axis = new TimeAxis([
      ...turns.map(({ at, endedAt }) => ({ from: at, until: endedAt ?? Math.max(at, now) })),
      ...calls.map(({ at, endedAt }) => ({ from: at, until: endedAt ?? Math.max(at, now) })),
    ]);
    this.#lanes = lanesOf(calls, this.#axis, now);
    this.#selected = calls.find(({ index }) => index === this.#selected?.index);
    const waits = turns.some((turn) => turn.waits) ? WAITS : 0;
    this.#hasContext = turns.some(({ context }) => context !== undefined);
    const lanes = Math.max(1, this.#lanes.length) * LANE;
    this.element.style.height = `${HEAD + waits + lanes + (this.#hasContext ? CONTEXT : 0) + 4}px`;
    this.element.ariaLabel = strings.timeline.picture(turns.length, calls.length);
    this.#setRange(this.#axis.at(left), this.#visibleLength);
  }

  select(call: TimelineCall | undefined): void {
    this.#selected = call;
    if (call) this.#scrollIntoRange(this.#axis.at(call.at), this.#axis.at(call.endedAt ?? this.#now));
    this.#schedule();
  }

  selectTurn({ at, endedAt }: TimelineTurn): void {
    this.#selected = undefined;
    this.#scrollIntoRange(this.#axis.at(at), this.#axis.at(endedAt ?? this.#now));
    this.#schedule();
  }

  refreshColours(): void {
    this.#colours = new Map();
    this.#schedule();
  }

  zoom(by: 1 | -1, x = this.element.clientWidth / 2): void {
    const old = this.#range;
    const fixed = old.from + x / old.scale;
    const length = (old.until - old.from) * (by === 1 ? 1 / ZOOM : ZOOM);
    this.#setRange(fixed - (x / this.element.clientWidth) * length, length);
  }

  showAll(): void {
    this.#setRange(0, Number.POSITIVE_INFINITY);
  }

  move(share: number): void {
    this.#setRange(this.#from + share * (this.#range.until - this.#range.from), this.#visibleLength);
  }

  get #range() {
    const length = Math.min(this.#visibleLength, this.#axis.length);
    const scale = Math.max(1, this.element.clientWidth) / length;
    return { from: this.#from, until: this.#from + length, scale };
  }

  #setRange(from: number, shown: number): void {
    const { length } = this.#axis;
    this.#visibleLength = shown >= length ? Number.POSITIVE_INFINITY : Math.max(Math.min(MIN_RANGE, length), shown);
    this.#from = Math.max(0, Math.min(from, length - Math.min(this.#visibleLength, length)));
    this.#schedule();
  }

  #scrollIntoRange(from: number, until: number): void {
    const sight = this.#range;
    if (from < sight.from || until > sight.until) {
      const size = sight.until - sight.from;
      this.#setRange(until - from > size ? from : (from + until - size) / 2, this.#visibleLength);
    }
  }

  #schedule(): void {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#draw();
    });
  }

  #draw(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (width === 0) return;
    if (this.#colours.size === 0) this.#colours = this.#options.colours();
    const ratio = devicePixelRatio;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.element.width !== wide) this.element.width = wide;
    if (this.element.height !== high) this.element.height = high;
    const context = this.#context;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    if (this.#hasContext) this.#drawContext(width, height);
    this.#drawTurns(width, height);
    this.#drawCuts(height);
    for (const [place, lane] of this.#lanes.entries()) this.#drawLane(lane, this.#topOf(place));
    this.#drawSelected();
  }

  #colour(name: string): string {
    return this.#colours.get(name) ?? this.#colours.get('dim') ?? 'gray';
  }

  #topOf(lane: number): number {
    return HEAD + (this.#turns.some(({ waits }) => waits) ? WAITS : 0) + lane * LANE;
  }

  #drawTurns(width: number, height: number): void {
    const context = this.#context;
    const { from, scale, until } = this.#range;
    context.font = `11px ${getComputedStyle(this.element).fontFamily}`;
    context.textBaseline = 'middle';
    let labelled = Number.NEGATIVE_INFINITY;
    let drawn = Number.NEGATIVE_INFINITY;
    for (const turn of this.#turns) {
      const start = this.#axis.at(turn.at);
      const end = this.#axis.at(turn.endedAt ?? this.#now);
      if (end < from || start > until) continue;
      const left = (start - from) * scale;
      const right = (end - from) * scale;
      for (const wait of turn.waits ?? []) this.#drawWait(wait);
      if (left - drawn >= 1) {
        drawn = left;
        context.fillStyle = this.#colour('line');
        context.fillRect(Math.round(left), 0, 1, height);
      }
      const x = Math.max(left, 0) + 4;
      if (Math.min(right, width) - x < LABEL || x < labelled) continue;
      const words = strings.timeline.turn(turn.number);
      const wide = context.measureText(words).width;
      if (x + wide > Math.min(right, width)) continue;
      labelled = x + wide + 6;
      context.fillStyle = this.#colour('dim');
      context.fillText(words, x, HEAD / 2);
    }
  }

  /**
   * Draws the context usage as steps along the lower edge; a value applies until the next turn
   * ends.
   */
  #drawContext(width: number, height: number): void {
    const context = this.#context;
    const { from, scale, until } = this.#range;
    const base = height - 2;
    context.fillStyle = this.#colour('context');
    let before = 0;
    let x = 0;
    for (const turn of this.#turns) {
      const start = this.#axis.at(turn.endedAt ?? this.#now);
      const left = Math.max(0, Math.min(width, (start - from) * scale));
      if (left - x >= 1 || start > until) {
        const high = Math.round(before * (CONTEXT - 4));
        context.fillRect(x, base - high, left - x, high);
        x = left;
      }
      before = turn.context ?? before;
      if (start > until) return;
    }
    const high = Math.round(before * (CONTEXT - 4));
    context.fillRect(x, base - high, width - x, high);
  }

  #drawWait({ from: since, until }: { readonly from: number; readonly until: number }): void {
    const context = this.#context;
    const { from, scale } = this.#range;
    const x = (this.#axis.at(since) - from) * scale;
    const width = Math.max(LEAST_BAR, (this.#axis.at(until) - from) * scale - x);
    if (x > this.element.clientWidth || x + width < 0) return;
    context.fillStyle = this.#colour('waits');
    context.fillRect(x, HEAD, width, WAITS - 4);
  }

  #drawCuts(height: number): void {
    const context = this.#context;
    const { from, until, scale } = this.#range;
    context.fillStyle = this.#colour('line');
    let drawn = Number.NEGATIVE_INFINITY;
    for (const cut of this.#axis.cuts) {
      if (cut.until < from || cut.from > until) continue;
      const middle = Math.round(((cut.from + cut.until) / 2 - from) * scale);
      if (middle - drawn < 4) continue;
      drawn = middle;
      for (let y = HEAD; y < height; y += 4) context.fillRect(middle, y, 1, 2);
    }
  }

  #drawLane(lane: Lane, top: number): void {
    const context = this.#context;
    const width = this.element.clientWidth;
    for (const mark of lane.marks(this.#range)) {
      const x = Math.max(mark.x, -2);
      const wide = Math.min(mark.x + mark.width, width + 2) - x - (mark.width >= 4 ? 1 : 0);
      context.fillStyle = this.#colour(kindOf(mark.kind));
      context.fillRect(x, top, Math.max(1, wide), BAR);
      if (!mark.isFailed) continue;
      context.fillStyle = this.#colour('failed');
      context.fillRect(x, top + BAR - 3, Math.max(LEAST_BAR, wide), 4);
    }
  }

  #drawSelected(): void {
    const call = this.#selected;
    const laneIndex = call ? this.#lanes.findIndex((lane) => lane.spanOf(call)) : -1;
    const span = call && this.#lanes[laneIndex]?.spanOf(call);
    if (!span) return;
    const { from, scale } = this.#range;
    const x = (span.from - from) * scale;
    const width = Math.max(LEAST_BAR, (span.until - span.from) * scale);
    const context = this.#context;
    context.lineWidth = 2;
    context.strokeStyle = this.#colour('focus');
    context.strokeRect(x - 2, this.#topOf(laneIndex) - 2, width + 4, BAR + 4);
  }

  #listen(): void {
    const { element } = this;
    element.addEventListener('wheel', (event) => this.#onWheel(event), { passive: false });
    element.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      this.#drag = { x: event.offsetX, from: this.#from, isMoved: false };
      element.setPointerCapture(event.pointerId);
    });
    element.addEventListener('pointermove', (event) => this.#onMove(event));
    element.addEventListener('pointerup', (event) => {
      const drag = this.#drag;
      this.#drag = undefined;
      element.classList.remove('dragging');
      const chosen = drag && !drag.isMoved ? this.#itemAt(event) : undefined;
      if (chosen) this.#options.onChoose(chosen);
    });
    element.addEventListener('pointercancel', () => {
      this.#drag = undefined;
      element.classList.remove('dragging');
    });
  }

  #onWheel(event: WheelEvent): void {
    event.preventDefault();
    // In lines: three make about 50 px.
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 17 : 1;
    const sideways = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      this.#setRange(this.#from + (sideways * unit) / this.#range.scale, this.#visibleLength);
    else if (event.deltaY !== 0) this.zoom(event.deltaY < 0 ? 1 : -1, event.offsetX);
  }

  #onMove(event: PointerEvent): void {
    const drag = this.#drag;
    if (drag && (drag.isMoved || Math.abs(event.offsetX - drag.x) > DRAG)) {
      drag.isMoved = true;
      this.element.classList.add('dragging');
      this.#setRange(drag.from - (event.offsetX - drag.x) / this.#range.scale, this.#visibleLength);
      return;
    }
    const item = this.#itemAt(event);
    this.element.classList.toggle('on-bar', item !== undefined);
    this.element.title = item ? ('kind' in item ? this.#options.nameOf(item) : strings.timeline.turn(item.number)) : '';
  }

  #itemAt({ offsetX, offsetY }: MouseEvent): TimelineCall | TimelineTurn | undefined {
    const { from, scale } = this.#range;
    const position = from + offsetX / scale;
    if (offsetY < HEAD)
      return this.#turns.find(
        ({ at, endedAt }) => this.#axis.at(at) <= position && position <= this.#axis.at(endedAt ?? this.#now),
      );
    const laneIndex = this.#lanes.findIndex(
      (_, lane) => offsetY >= this.#topOf(lane) - 1 && offsetY < this.#topOf(lane + 1) - 1,
    );
    return this.#lanes[laneIndex]?.find(position, REACH / scale);
  }
}
