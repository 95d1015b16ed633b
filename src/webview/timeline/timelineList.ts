// The timeline as a list for the keyboard and screen readers. Only visible rows are drawn.
import { revealControls } from '../../base/revealControls';
import type { TimelineCall, TimelineTurn } from '../../panel/contract';
import { el, isComposing, setAttributes } from '../dom/dom';
import { formatCost, formatCount, formatDuration } from '../text/format';
import { strings } from '../text/strings';
import { createSwatch, kindOf } from './legend';
import type { TimelineRow } from './timelineData';

/** Height of a row, px; also in the style sheet. */
const ROW_HEIGHT = 22;
const OVERSCAN_ROWS = 4;
const MIN_WAIT_MS = 1000;

export interface ListOptions {
  onSelect(row: TimelineRow): void;
  onOpen(row: TimelineRow): void;
}

export class TimelineList {
  readonly element = setAttributes(el('div', 'timeline-list'), {
    role: 'listbox',
    tabindex: '0',
    'aria-label': strings.timeline.list,
  });
  readonly #options: ListOptions;
  readonly #spacer = setAttributes(el('div', 'timeline-room'), { role: 'presentation' });
  readonly #rowElements = new Map<number, HTMLElement>();
  #rows: readonly TimelineRow[] = [];
  #counts = new Map<number, number>();
  #now = 0;
  #active = 0;

  constructor(options: ListOptions) {
    this.#options = options;
    this.element.append(this.#spacer);
    this.element.addEventListener('scroll', () => this.#draw(), { passive: true });
    this.element.addEventListener('keydown', (event) => this.#onKey(event));
    this.element.addEventListener('click', (event) => {
      const row = (event.target as Element).closest<HTMLElement>('.timeline-row');
      if (row) this.#open(Number(row.dataset.place));
    });
    new ResizeObserver(() => this.#draw()).observe(this.element);
  }

  show(rows: readonly TimelineRow[], now: number): void {
    const before = this.#rows[this.#active];
    this.#rows = rows;
    this.#now = now;
    this.#counts = new Map();
    for (const row of rows) {
      const turn = row.kind === 'call' ? row.call.turn : undefined;
      if (turn !== undefined) this.#counts.set(turn, (this.#counts.get(turn) ?? 0) + 1);
    }
    this.#active = before
      ? Math.max(
          0,
          rows.findIndex((row) => isSameRow(row, before)),
        )
      : rows.length - 1;
    this.#spacer.style.height = `${rows.length * ROW_HEIGHT}px`;
    for (const row of this.#rowElements.values()) row.remove();
    this.#rowElements.clear();
    if (before) this.#draw();
    else this.#scrollToActive();
  }

  select(chosen: TimelineRow): void {
    const index = this.#rows.findIndex((row) => isSameRow(row, chosen));
    if (index !== -1) this.#select(index);
  }

  clear(): void {
    this.#rows = [];
    this.#active = 0;
  }

  #onKey(event: KeyboardEvent): void {
    if (isComposing(event) || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    const last = this.#rows.length - 1;
    if (last < 0) return;
    const places: Readonly<Record<string, () => number>> = {
      ArrowDown: () => this.#active + 1,
      ArrowUp: () => this.#active - 1,
      Home: () => 0,
      End: () => last,
      PageDown: () => this.#turnFrom(1),
      PageUp: () => this.#turnFrom(-1),
    };
    if (event.key === 'Enter') this.#open(this.#active);
    else if (Object.hasOwn(places, event.key)) this.#select(Math.max(0, Math.min(last, places[event.key]!())));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #turnFrom(step: 1 | -1): number {
    let place = this.#active + step;
    while (this.#rows[place] && this.#rows[place]?.kind !== 'turn') place += step;
    return place;
  }

  #open(place: number): void {
    this.#select(place);
    const row = this.#rows[place];
    if (row) this.#options.onOpen(row);
  }

  #select(place: number): void {
    this.#active = place;
    this.#scrollToActive();
    const row = this.#rows[place];
    if (row) this.#options.onSelect(row);
  }

  #scrollToActive(): void {
    const top = this.#active * ROW_HEIGHT;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + ROW_HEIGHT > scrollTop + clientHeight) this.element.scrollTop = top + ROW_HEIGHT - clientHeight;
    this.#draw();
  }

  #draw(): void {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - OVERSCAN_ROWS);
    const end = Math.min(this.#rows.length, Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT) + OVERSCAN_ROWS);
    for (const [place, row] of this.#rowElements) {
      if (place >= first && place < end) continue;
      row.remove();
      this.#rowElements.delete(place);
    }
    for (let place = first; place < end; place++) {
      const existing = this.#rowElements.get(place);
      const row = existing ?? this.#createRow(place);
      row.ariaSelected = String(place === this.#active);
      if (existing) continue;
      this.#rowElements.set(place, row);
      let next = place + 1;
      while (next < end && !this.#rowElements.has(next)) next++;
      this.#spacer.insertBefore(row, this.#rowElements.get(next) ?? null);
    }
    const active = this.#rowElements.get(this.#active);
    setAttributes(this.element, { 'aria-activedescendant': active?.id });
  }

  #createRow(place: number): HTMLElement {
    const row = this.#rows[place]!;
    const parts = row.kind === 'turn' ? this.#turnParts(row.turn) : callParts(row.call, this.#now);
    const [name, title, ...facts] = parts;
    const element = setAttributes(
      el(
        'div',
        `timeline-row ${row.kind}`,
        row.kind === 'call' ? createSwatch(kindOf(row.call.kind)) : undefined,
        el('span', 'timeline-name', name),
        ' ',
        el('span', 'timeline-title', title),
        ' ',
        el('span', 'timeline-facts', facts.filter((fact) => fact !== '').join(' · ')),
      ),
      {
        id: `timeline-row-${place}`,
        role: 'option',
        title: parts.filter((part) => part !== '').join(' · '),
        'aria-posinset': place + 1,
        'aria-setsize': this.#rows.length,
        'data-place': place,
      },
    );
    element.style.top = `${place * ROW_HEIGHT}px`;
    return element;
  }

  #turnParts({ number, at, endedAt, tokens, context, cost, waits = [] }: TimelineTurn): string[] {
    const waited = waits.reduce((sum, { from, until }) => sum + until - from, 0);
    return [
      strings.timeline.turn(number),
      strings.timeline.calls(this.#counts.get(number) ?? 0),
      waited < MIN_WAIT_MS ? '' : strings.timeline.waited(waited),
      tokens === undefined ? '' : strings.tokens(formatCount(tokens)),
      context === undefined ? '' : strings.timeline.contextUsed(context),
      cost === undefined ? '' : formatCost(cost.amount, cost.currency),
      formatDuration((endedAt ?? Math.max(at, this.#now)) - at),
    ];
  }
}

/** Returns the kind, the title and the facts of a call; some can be empty. */
export function callParts({ kind, title, status, at, endedAt, waitedMs = 0 }: TimelineCall, now: number): string[] {
  const knownKind = kindOf(kind);
  const state =
    endedAt === undefined
      ? strings.timeline.running
      : status === 'failed' || status === 'cancelled'
        ? strings.toolStatus[status]
        : '';
  return [
    strings.verbs[knownKind]!,
    // Drops a leading verb, which many agents add.
    revealControls(title.replace(new RegExp(`^${knownKind}(?: file| for)?[:\\s]+(?=.)`, 'i'), '')),
    state,
    waitedMs < MIN_WAIT_MS ? '' : strings.timeline.waited(waitedMs),
    formatDuration((endedAt ?? Math.max(at, now)) - at),
  ];
}

function isSameRow(a: TimelineRow, b: TimelineRow): boolean {
  if (a.kind === 'turn') return b.kind === 'turn' && a.turn.number === b.turn.number;
  return b.kind === 'call' && a.call.index === b.call.index;
}
