// Adds messages that arrive after the transcript is shown, in small batches.
import type { GapFilling, SessionEvent, TimedEvent } from '../../session/events/event';
import type { SessionState } from '../../session/model/state';

export interface HistoryPlace {
  readonly model: { readonly state: Readonly<SessionState> };
  note(events: readonly TimedEvent[]): void;
}

const SLICE = 100;
const SLICE_BYTES = 128 * 1024;
/** Adds later messages in small steps: thousands at once would block the window. */
export class LateArrivals {
  readonly #place: HistoryPlace;
  readonly #now: () => number;
  readonly #batchMs: number;
  #waiting: { readonly event: SessionEvent; readonly bytes: number }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOpen = false;
  readonly #whenEmpty: (() => void)[] = [];

  constructor(place: HistoryPlace, now: () => number, batchMs = 100) {
    this.#place = place;
    this.#now = now;
    this.#batchMs = batchMs;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  open(): void {
    this.#isOpen = true;
    // Texts of messages that are there already may have come before.
    if (this.#waiting.length > 0) this.#putSome();
  }

  add(event: SessionEvent, bytes = 0): void {
    this.#waiting.push({ event, bytes });
    if (this.#isOpen) this.#timer ??= setTimeout(() => this.#putSome(), this.#batchMs);
  }

  async settled(): Promise<void> {
    if (!this.#isOpen || this.#waiting.length === 0) return;
    const empty = new Promise<void>((resolve) => this.#whenEmpty.push(resolve));
    this.#putSome();
    await empty;
  }

  #putSome(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const some: SessionEvent[] = [];
    let left = SLICE_BYTES;
    while (some.length < SLICE && left > 0 && some.length < this.#waiting.length) {
      const next = this.#waiting[some.length];
      if (!next) break;
      some.push(next.event);
      left -= next.bytes;
    }
    this.#waiting = this.#waiting.slice(some.length);
    this.#place.note(joined(some).map((event) => ({ at: this.#now(), event })));
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#putSome(), 0);
    else for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }
}

/** The same with messages that follow each other in one event: what they cost is paid once. */
function joined(events: readonly SessionEvent[]): readonly SessionEvent[] {
  const all: SessionEvent[] = [];
  let fillings: GapFilling[] = [];
  for (const event of events) {
    if (event.type !== 'gap_filled') {
      fillings = [];
      all.push(event);
      continue;
    }
    if (fillings.length === 0) all.push({ type: 'gaps_filled', fillings });
    const { type: _type, ...filled } = event;
    fillings.push(filled);
  }
  return all;
}
