// The trace of turns: a bounded number of lanes, one per prompt, with its marks.
import { revealControls } from '../../base/revealControls';
import type { LaneMark, TurnLane, TurnMarkNote } from '../../panel/trafficContract';
import { el, icon, setAttributes } from '../dom/dom';
import type { IconName } from '../dom/icons';
import { moreCount, trafficStrings } from '../text/strings';

/** Distance from the end within which new lanes are followed, px. */
const AT_END = 4;

const NOTE_ICONS: Readonly<Record<TurnMarkNote, IconName>> = {
  late: 'history',
  foreign: 'question',
  doubled: 'copy',
};

interface DrawnLane {
  lane: TurnLane;
  readonly element: HTMLElement;
}

interface Place {
  readonly lane: number;
  readonly mark: number;
}

export interface TurnLanesOptions {
  readonly labelOf: (key: string) => string;
  readonly onSelect: (seq: number) => void;
  readonly onOpen: () => void;
}

export class TurnLanes {
  readonly element: HTMLElement;
  readonly #options: TurnLanesOptions;
  /** Oldest first. */
  readonly #lanes = new Map<number, DrawnLane>();
  #session = '';
  #isOn = true;
  #active: Place | undefined;

  constructor(options: TurnLanesOptions) {
    this.#options = options;
    this.element = setAttributes(el('div', 'traffic-lanes'), {
      role: 'grid',
      tabindex: 0,
      'aria-label': trafficStrings.turns,
    });
    this.element.addEventListener('keydown', (event) => this.#onKey(event));
    this.element.addEventListener('click', (event) => {
      const cell = event.target instanceof Element ? event.target.closest<HTMLElement>('.lane-mark') : null;
      const { lane, mark } = cell?.dataset ?? {};
      if (lane !== undefined && mark !== undefined) this.#select({ lane: Number(lane), mark: Number(mark) });
    });
    this.#updateHidden();
  }

  /** @param first earlier lanes are removed */
  update(first: number, lanes: readonly TurnLane[]): void {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    const isAtEnd = scrollHeight - scrollTop - clientHeight <= AT_END;
    for (const [id, { element }] of this.#lanes) {
      if (id >= first) break;
      element.remove();
      this.#lanes.delete(id);
    }
    for (const lane of lanes) this.#putLane(lane);
    this.#updateHidden();
    this.#mark();
    if (isAtEnd) this.element.scrollTop = this.element.scrollHeight;
  }

  rename(): void {
    for (const { lane } of this.#lanes.values()) this.#putLane(lane);
    this.#mark();
  }

  /** '' shows all sessions. */
  set session(key: string) {
    this.#session = key;
    for (const { lane, element } of this.#lanes.values()) element.hidden = !this.#isInSession(lane);
    this.#updateHidden();
  }

  set isOn(isOn: boolean) {
    this.#isOn = isOn;
    this.#updateHidden();
  }

  showMessage(seq: number): void {
    const { lane, mark } = this.#active ?? {};
    const current = lane === undefined || mark === undefined ? undefined : this.#lanes.get(lane)?.lane.marks[mark];
    if (current?.seq === seq) return;
    this.#active = undefined;
    for (const { lane } of this.#visibleLanes()) {
      const index = lane.marks.findIndex((mark) => mark.seq === seq);
      if (index === -1) continue;
      this.#active = { lane: lane.id, mark: index };
      break;
    }
    this.#mark(true);
  }

  #putLane(lane: TurnLane): void {
    const existing = this.#lanes.get(lane.id);
    const element = existing?.element ?? setAttributes(el('div', 'traffic-lane'), { role: 'row' });
    const session = this.#options.labelOf(lane.key);
    const name = setAttributes(el('span', 'lane-name', nameOf(lane)), { role: 'rowheader' });
    const facts = [totalOf(lane), session].filter((fact) => fact !== '');
    name.title = session;
    if (facts.length > 0) name.append(el('span', 'lane-facts dim', ` ${facts.join(' · ')}`));
    const cells = lane.marks.map((mark, index) => cellOf(lane, mark, index));
    element.replaceChildren(name, ...cells);
    if (lane.more) element.append(setAttributes(el('span', 'dim', moreCount(lane.more)), { role: 'gridcell' }));
    element.hidden = !this.#isInSession(lane);
    if (existing) existing.lane = lane;
    else {
      this.#lanes.set(lane.id, { lane, element });
      this.element.append(element);
    }
  }

  #isInSession({ key }: TurnLane): boolean {
    return this.#session === '' || key === this.#session;
  }

  #visibleLanes(): readonly DrawnLane[] {
    return [...this.#lanes.values()].filter(({ element }) => !element.hidden);
  }

  #updateHidden(): void {
    this.element.hidden = !this.#isOn || this.#visibleLanes().length === 0;
  }

  #select(place: Place): void {
    const mark = this.#lanes.get(place.lane)?.lane.marks[place.mark];
    if (!mark) return;
    this.#active = place;
    this.#mark(true);
    if (mark.seq !== undefined) this.#options.onSelect(mark.seq);
  }

  #mark(isSought = false): void {
    for (const cell of this.element.querySelectorAll('.lane-mark[aria-selected=true]'))
      cell.setAttribute('aria-selected', 'false');
    const cell = this.#active && document.getElementById(idOf(this.#active.lane, this.#active.mark));
    cell?.setAttribute('aria-selected', 'true');
    if (isSought) cell?.scrollIntoView({ block: 'nearest' });
    setAttributes(this.element, { 'aria-activedescendant': cell?.id });
  }

  #onKey(event: KeyboardEvent): void {
    const lanes = this.#visibleLanes();
    if (event.ctrlKey || event.metaKey || event.altKey || lanes.length === 0) return;
    if (event.key === 'Enter') {
      if (this.#active) this.#options.onOpen();
    } else {
      const next = this.#nextMark(event.key, lanes);
      if (!next) return;
      this.#select(next);
    }
    event.preventDefault();
  }

  #nextMark(key: string, shown: readonly DrawnLane[]): Place | undefined {
    const last = shown.length - 1;
    const row = shown.findIndex(({ lane }) => lane.id === this.#active?.lane);
    const isNone = row === -1;
    const mark = isNone ? 0 : (this.#active?.mark ?? 0);
    const moves: Readonly<Record<string, readonly [row: number, mark: number]>> = {
      ArrowRight: isNone ? [last, 0] : [row, mark + 1],
      ArrowLeft: isNone ? [last, 0] : [row, mark - 1],
      ArrowDown: isNone ? [0, 0] : [row + 1, mark],
      ArrowUp: isNone ? [last, 0] : [row - 1, mark],
      Home: [isNone ? 0 : row, 0],
      End: [isNone ? last : row, Number.MAX_SAFE_INTEGER],
    };
    const move = moves[key];
    if (!move) return undefined;
    const { lane } = shown[Math.max(0, Math.min(last, move[0]))]!;
    return { lane: lane.id, mark: Math.max(0, Math.min(lane.marks.length - 1, move[1])) };
  }
}

function cellOf(lane: TurnLane, { kind, ms, seq, note, count }: LaneMark, index: number): HTMLElement {
  const cell = setAttributes(el('span', 'lane-mark'), {
    role: 'gridcell',
    id: idOf(lane.id, index),
    'aria-selected': 'false',
    'data-lane': lane.id,
    'data-mark': index,
    'data-kind': kind,
    'data-note': note,
    'data-timed': seq === undefined,
  });
  if (seq === undefined) cell.title = trafficStrings.byTime;
  if (index > 0) cell.append(el('span', 'lane-gap', `+${trafficStrings.ms(ms)}`), ' ');
  const chip = el('span', 'lane-chip', trafficStrings.mark[kind]);
  if (note) {
    chip.append(' ', icon(NOTE_ICONS[note]), trafficStrings.markNote[note]);
    chip.title = trafficStrings.markNoteHint[note];
  }
  if (count !== undefined) chip.append(` ×${count}`);
  cell.append(chip);
  return cell;
}

function nameOf({ isOwn, requestId }: TurnLane): string {
  if (isOwn) return trafficStrings.ownTurn;
  return requestId === undefined ? trafficStrings.prompt : trafficStrings.promptOf(revealControls(requestId));
}

function totalOf({ marks }: TurnLane): string {
  const settled = marks.find(({ kind }) => kind === 'settled');
  return settled && marks[0] ? trafficStrings.ms(Math.max(0, settled.at - marks[0].at)) : '';
}

function idOf(lane: number, mark: number): string {
  return `mark-${lane}-${mark}`;
}
