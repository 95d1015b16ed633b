// The timeline above the transcript: turns and tool calls over time, as a picture and a list.
import type { ToWebview } from '../../panel/contract';
import { button, el, iconButton, isComposing, setAttributes } from '../dom/dom';
import { post } from '../host/host';
import { focusComposer } from '../input/wake';
import { strings, zoomStrings } from '../text/strings';
import type { Transcript } from '../transcript/transcript';
import { kindOf, Legend } from './legend';
import { TimelineData, type TimelineRow } from './timelineData';
import { callParts, TimelineList } from './timelineList';
import { TimelinePicture } from './timelinePicture';

/** Minimum interval of requests, ms. */
const REQUEST_INTERVAL_MS = 1000;
const STEP = 0.2;

export class Timeline {
  readonly #transcript: Transcript;
  readonly #data = new TimelineData();
  readonly #legend = new Legend();
  readonly #picture: TimelinePicture;
  readonly #list: TimelineList;
  readonly #summary = el('span', 'timeline-summary');
  readonly #element: HTMLElement;
  #id = 0;
  #isOpen = false;
  #isWaiting = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #previousFocus: HTMLElement | undefined;

  constructor(transcript: Transcript) {
    this.#transcript = transcript;
    this.#list = new TimelineList({ onSelect: (row) => this.#select(row), onOpen: (row) => this.#open(row) });
    this.#picture = new TimelinePicture({
      onChoose: (chosen) => {
        const row: TimelineRow = 'kind' in chosen ? { kind: 'call', call: chosen } : { kind: 'turn', turn: chosen };
        this.#list.select(row);
        this.#open(row);
      },
      nameOf: (call) =>
        callParts(call, this.#data.now)
          .filter((part) => part !== '')
          .join(' · '),
      colours: () => this.#legend.colours(),
    });
    const zoom = (sign: string, label: string, run: () => void): HTMLButtonElement =>
      setAttributes(button('icon-button timeline-sign', sign, run), { 'aria-label': label, title: label });
    const head = el(
      'div',
      'timeline-head',
      el('h2', 'timeline-heading', strings.timelineTitle),
      this.#summary,
      zoom('−', zoomStrings.out, () => this.#picture.zoom(-1)),
      zoom('+', zoomStrings.in, () => this.#picture.zoom(1)),
      zoom('↔', zoomStrings.toAll, () => this.#picture.showAll()),
      iconButton('close', strings.closeByKey, () => this.close()),
    );
    this.#element = setAttributes(
      el('section', 'timeline', head, this.#picture.element, this.#legend.element, this.#list.element),
      { 'aria-label': strings.timelineTitle },
    );
    this.#element.addEventListener('keydown', (event) => this.#onKey(event));
  }

  open(): void {
    const { activeElement } = document;
    if (!this.#isOpen || !this.#element.contains(activeElement))
      this.#previousFocus = activeElement instanceof HTMLElement ? activeElement : undefined;
    if (!this.#isOpen) {
      this.#isOpen = true;
      this.#transcript.element.prepend(this.#element);
      this.#transcript.element.classList.add('with-timeline');
      this.renew();
    }
    this.#list.element.focus({ preventScroll: true });
  }

  close(): void {
    const hadFocus = this.#element.contains(document.activeElement);
    this.forget();
    if (!hadFocus) return;
    if (this.#previousFocus?.isConnected && this.#previousFocus !== document.body)
      this.#previousFocus.focus({ preventScroll: true });
    else focusComposer();
  }

  forget(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#id++;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#data.clear();
    this.#list.clear();
    this.#element.remove();
    this.#transcript.element.classList.remove('with-timeline');
  }

  renew(): void {
    if (this.#isOpen) this.#request(0);
  }

  changed(): void {
    if (!this.#isOpen) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#isWaiting) this.changed();
      else this.#request(this.#data.from);
    }, REQUEST_INTERVAL_MS);
  }

  receive(message: Extract<ToWebview, { type: 'timeline' }>): void {
    if (message.id !== this.#id || !this.#isOpen) return;
    this.#data.apply(message);
    if (!message.isDone) return;
    this.#isWaiting = false;
    const { turns, calls, now } = this.#data;
    const isEmpty = turns.length === 0 && calls.length === 0;
    this.#summary.textContent = isEmpty ? strings.timeline.empty : strings.timeline.summary(turns.length, calls.length);
    const kinds = [...new Set(calls.map(({ kind }) => kindOf(kind)))];
    this.#legend.show(
      kinds,
      turns.some(({ waits }) => waits),
      turns.some(({ context }) => context !== undefined),
    );
    this.#picture.refreshColours();
    this.#picture.show(this.#data);
    this.#list.show(this.#data.rows(), now);
  }

  #request(from: number): void {
    this.#isWaiting = true;
    post({ type: 'timeline', id: ++this.#id, from });
  }

  #select(row: TimelineRow): void {
    if (row.kind === 'call') this.#picture.select(row.call);
    else this.#picture.selectTurn(row.turn);
  }

  #open(row: TimelineRow): void {
    const index = row.kind === 'call' ? row.call.index : row.turn.index;
    if (index !== undefined) this.#transcript.revealFound(index);
  }

  #onKey(event: KeyboardEvent): void {
    if (isComposing(event) || event.ctrlKey || event.altKey || event.metaKey) return;
    const keys: Readonly<Record<string, () => void>> = {
      Escape: () => this.close(),
      '+': () => this.#picture.zoom(1),
      '=': () => this.#picture.zoom(1),
      '-': () => this.#picture.zoom(-1),
      '0': () => this.#picture.showAll(),
      ArrowLeft: () => this.#picture.move(-STEP),
      ArrowRight: () => this.#picture.move(STEP),
    };
    if (!Object.hasOwn(keys, event.key)) return;
    keys[event.key]!();
    event.preventDefault();
    event.stopPropagation();
  }
}
