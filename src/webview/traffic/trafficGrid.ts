// The table of the inspector. Only visible rows are drawn, and their elements are reused.
import type { TrafficRow } from '../../panel/trafficContract';
import { el, icon, setAttributes } from '../dom/dom';
import type { IconName } from '../dom/icons';
import { trafficStrings } from '../text/strings';
import type { TrafficRows } from './trafficRows';

const COLUMNS = ['time', 'direction', 'method', 'id', 'latency', 'size', 'session'] as const;
type Column = (typeof COLUMNS)[number];

const MARGIN = 6;
/** Distance from the end within which new rows are followed, px. */
const AT_END = 4;

const ICONS: Readonly<Record<TrafficRow['direction'], IconName>> = {
  in: 'arrow-down',
  out: 'arrow-up',
  stderr: 'terminal',
  noise: 'warning',
};

interface DrawnRow {
  readonly element: HTMLElement;
  readonly cells: Readonly<Record<Column, HTMLElement>>;
  seq: number;
}

export interface TrafficGridOptions {
  readonly rows: TrafficRows;
  readonly labelOf: (key: string) => string;
  readonly onSelect: (row: TrafficRow) => void;
  readonly onOpen: () => void;
}

export class TrafficGrid {
  readonly element: HTMLElement;
  readonly #options: TrafficGridOptions;
  readonly #body = setAttributes(el('div', 'traffic-rows'), { role: 'rowgroup' });
  readonly #empty = el('p', 'traffic-empty dim');
  readonly #rowElements: DrawnRow[] = [];
  selected: number | undefined;
  #rowHeight = 0;
  #followsEnd = true;
  #frame = 0;

  constructor(options: TrafficGridOptions) {
    this.#options = options;
    const head = setAttributes(el('div', 'traffic-row traffic-head'), { role: 'row', 'aria-rowindex': 1 });
    for (const [index, column] of COLUMNS.entries()) {
      const cell = el('span', `traffic-${column}`, trafficStrings.column[column]);
      head.append(setAttributes(cell, { role: 'columnheader', 'aria-colindex': index + 1 }));
    }
    this.element = setAttributes(el('div', 'traffic-grid'), {
      role: 'grid',
      tabindex: 0,
      'aria-label': trafficStrings.messages,
      'aria-colcount': COLUMNS.length,
    });
    this.element.append(setAttributes(el('div', 'traffic-heads', head), { role: 'rowgroup' }), this.#body, this.#empty);
    this.element.addEventListener('scroll', () => {
      const { scrollTop, scrollHeight, clientHeight } = this.element;
      this.#followsEnd = scrollHeight - scrollTop - clientHeight <= AT_END;
      this.draw();
    });
    this.element.addEventListener('keydown', (event) => this.#onKey(event));
    this.#body.addEventListener('click', (event) => {
      const row = event.target instanceof Element ? event.target.closest<HTMLElement>('.traffic-row') : null;
      const seq = row?.dataset.seq;
      if (seq !== undefined) this.select(Number(seq));
    });
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  select(seq: number): void {
    const index = this.#options.rows.indexOf(seq);
    const row = this.#options.rows.matching[index];
    if (!row) return;
    this.selected = seq;
    this.#followsEnd = false;
    this.#scrollTo(index);
    this.draw();
    this.#options.onSelect(row);
  }

  clear(): void {
    this.selected = undefined;
    this.#followsEnd = true;
    this.draw();
  }

  draw(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #draw(): void {
    const { rows } = this.#options;
    const { length } = rows.matching;
    this.#empty.hidden = length > 0;
    this.#empty.textContent = rows.total === 0 ? trafficStrings.empty : trafficStrings.noneMatches;
    this.#rowHeight ||= this.#rowElementAt(0).element.offsetHeight || 22;
    this.#body.style.height = `${length * this.#rowHeight}px`;
    setAttributes(this.element, { 'aria-rowcount': length + 1 });
    if (this.#followsEnd) this.element.scrollTop = this.element.scrollHeight;
    const { scrollTop, clientHeight } = this.element;
    const from = Math.max(0, Math.floor(scrollTop / this.#rowHeight) - MARGIN);
    const to = Math.min(length, Math.ceil((scrollTop + clientHeight) / this.#rowHeight) + MARGIN);
    for (let place = 0; place < to - from; place++) {
      const row = rows.matching[from + place];
      if (row) this.#fillRow(this.#rowElementAt(place), row, from + place);
    }
    for (const { element } of this.#rowElements.splice(Math.max(0, to - from))) element.remove();
    const isInSight = this.selected !== undefined && this.#rowElements.some(({ seq }) => seq === this.selected);
    setAttributes(this.element, { 'aria-activedescendant': isInSight ? idOf(this.selected ?? 0) : undefined });
  }

  #rowElementAt(place: number): DrawnRow {
    const existing = this.#rowElements[place];
    if (existing) return existing;
    const element = setAttributes(el('div', 'traffic-row'), { role: 'row' });
    const cells = {} as Record<Column, HTMLElement>;
    for (const [index, column] of COLUMNS.entries()) {
      cells[column] = setAttributes(el('span', `traffic-${column}`), { role: 'gridcell', 'aria-colindex': index + 1 });
      element.append(cells[column]);
    }
    const row = { element, cells, seq: -1 };
    this.#rowElements.push(row);
    this.#body.append(element);
    return row;
  }

  #fillRow(drawn: DrawnRow, row: TrafficRow, index: number): void {
    const { element, cells } = drawn;
    const answer = this.#options.rows.answers.get(row.seq);
    const isError = row.isError === true;
    element.style.transform = `translateY(${index * this.#rowHeight}px)`;
    setAttributes(element, {
      id: idOf(row.seq),
      'aria-rowindex': index + 2,
      'aria-selected': row.seq === this.selected ? 'true' : 'false',
      'data-seq': row.seq,
      'data-direction': row.direction,
      'data-kind': row.kind,
      'data-error': isError,
    });
    const ms = row.ms ?? answer?.ms;
    cells.latency.textContent = ms === undefined ? '' : trafficStrings.ms(ms);
    cells.session.textContent = this.#options.labelOf(row.key);
    if (drawn.seq === row.seq) return;
    drawn.seq = row.seq;
    cells.time.textContent = timeOf(row.at);
    const labels = row.kind === 'text' ? [] : [trafficStrings.kind[row.kind]];
    const direction = [
      trafficStrings.direction[row.direction],
      ...labels,
      ...(isError ? [trafficStrings.error] : []),
    ].join(', ');
    cells.direction.replaceChildren(icon(isError ? 'error' : ICONS[row.direction], direction));
    cells.direction.title = direction;
    cells.method.textContent = row.method || trafficStrings.noMethod;
    cells.method.title = row.method;
    cells.id.textContent = row.id ?? '';
    cells.size.textContent = trafficStrings.bytes(row.size);
  }

  #scrollTo(index: number): void {
    const { scrollTop, clientHeight } = this.element;
    const head = this.#headHeight;
    const top = index * this.#rowHeight;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + this.#rowHeight + head > scrollTop + clientHeight)
      this.element.scrollTop = top + this.#rowHeight + head - clientHeight;
  }

  get #headHeight(): number {
    return this.#body.offsetTop;
  }

  #onKey(event: KeyboardEvent): void {
    const { matching: shown } = this.#options.rows;
    if (event.ctrlKey || event.metaKey || event.altKey || shown.length === 0) return;
    const current = this.#options.rows.indexOf(this.selected);
    const page = Math.max(1, Math.floor((this.element.clientHeight - this.#headHeight) / (this.#rowHeight || 22)) - 1);
    const last = shown.length - 1;
    const next = {
      ArrowDown: current + 1,
      ArrowUp: current === -1 ? last : current - 1,
      PageDown: current + page,
      PageUp: current === -1 ? last : current - page,
      Home: 0,
      End: last,
    }[event.key];
    if (next !== undefined) {
      const row = shown[Math.max(0, Math.min(last, next))];
      if (row) this.select(row.seq);
    } else if (event.key === 'Enter' && this.selected !== undefined) this.#options.onOpen();
    else return;
    event.preventDefault();
  }
}

function idOf(seq: number): string {
  return `message-${seq}`;
}

function timeOf(at: number): string {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  const ms = String(date.getMilliseconds()).padStart(3, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${ms}`;
}
