// The line at the end of the transcript while the agent works: its activity, and since when.
import { el, setAttributes } from '../dom/dom';
import { formatDuration } from '../text/format';
import { strings } from '../text/strings';

export interface Work {
  readonly status: string;
  /** ms since 1970 */
  readonly since: number;
  readonly starter?: string | undefined;
}

export class WorkingLine {
  readonly #word = el('span', 'working-word');
  readonly #starter = el('span', 'working-starter');
  readonly #time = el('span', 'working-time');
  readonly element = setAttributes(el('div', 'working', this.#word, this.#starter, this.#time), {
    'aria-hidden': 'true',
  });
  #since = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor() {
    this.element.hidden = true;
  }

  show(work: Work | undefined): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.element.hidden = work === undefined;
    if (!work) return;
    // Other statuses include a time, or need none.
    const isPlain = work.status === strings.working;
    this.element.classList.toggle('moves', isPlain);
    this.#word.textContent = work.status;
    this.#word.title = work.status;
    this.#starter.textContent = work.starter ?? '';
    this.#since = work.since;
    this.#tick(isPlain);
    if (isPlain) this.#timer = setInterval(() => this.#tick(true), 1000);
  }

  #tick(isCounted: boolean): void {
    const seconds = isCounted ? Math.floor((Date.now() - this.#since) / 1000) : 0;
    this.#time.textContent = seconds > 0 ? formatDuration(seconds * 1000) : '';
  }
}
