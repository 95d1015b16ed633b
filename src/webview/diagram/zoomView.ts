// A picture that can be zoomed and panned with keys, wheel, buttons and pointer.
import { el, setAttributes } from '../dom/dom';

const STEP = 1.25;
const MIN = 0.05;
const MAX = 20;
const MARGIN = 16;

export class ZoomView {
  readonly element: HTMLElement;
  readonly #image: HTMLImageElement;
  readonly #onZoom: (zoom: number) => void;
  #size = { width: 1, height: 1 };
  #zoom = 1;
  #isFitted = true;

  /** @param onZoom called with each new zoom; 1 is the actual size */
  constructor(image: HTMLImageElement, label: string, onZoom: (zoom: number) => void) {
    this.#image = image;
    this.#onZoom = onZoom;
    const element = setAttributes(el('div', 'diagram-view', image), {
      tabindex: 0,
      role: 'group',
      'aria-label': label,
    });
    this.element = element;
    element.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    element.addEventListener('keydown', (event) => this.#press(event));
    element.addEventListener('pointerdown', (event) => {
      // Presses on the scroll bars do not pan.
      if (event.button === 0 && event.target !== element) element.setPointerCapture(event.pointerId);
    });
    element.addEventListener('pointermove', (event) => {
      if (!element.hasPointerCapture(event.pointerId)) return;
      element.scrollLeft -= event.movementX;
      element.scrollTop -= event.movementY;
    });
    new ResizeObserver(() => this.#isFitted && this.fit()).observe(element);
  }

  /** @param size of the picture, px */
  show(size: { readonly width: number; readonly height: number }): void {
    this.#size = size;
    this.fit();
  }

  fit(): void {
    const { clientWidth, clientHeight } = this.element;
    const { width, height } = this.#size;
    this.#set(Math.min(1, (clientWidth - 2 * MARGIN) / width, (clientHeight - 2 * MARGIN) / height));
    this.#isFitted = true;
  }

  /** @param steps positive zooms in; 0 resets to the actual size */
  step(steps: number): void {
    this.#set(steps === 0 ? 1 : this.#zoom * STEP ** steps);
  }

  /** @param x, y the point that stays in place, px */
  #set(zoom: number, x = this.element.clientWidth / 2, y = this.element.clientHeight / 2): void {
    const { element } = this;
    const before = this.#zoom;
    this.#zoom = Math.min(MAX, Math.max(MIN, zoom));
    this.#isFitted = false;
    const factor = this.#zoom / before;
    const [left, top] = [(element.scrollLeft + x) * factor - x, (element.scrollTop + y) * factor - y];
    this.#image.width = this.#size.width * this.#zoom;
    this.#image.height = this.#size.height * this.#zoom;
    element.scrollTo(left, top);
    this.#onZoom(this.#zoom);
  }

  #wheel(event: WheelEvent): void {
    // A pinch on a touchpad arrives as a wheel event with Ctrl.
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { left, top } = this.element.getBoundingClientRect();
    this.#set(this.#zoom * STEP ** (-event.deltaY / 100), event.clientX - left, event.clientY - top);
  }

  #press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    if (key === '+' || key === '=') this.step(1);
    else if (key === '-') this.step(-1);
    else if (key === '1') this.step(0);
    else if (key === '0') this.fit();
    else return;
    event.preventDefault();
  }
}
