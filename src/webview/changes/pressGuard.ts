// Decides whether a press of a button was meant, for buttons that act at once and change files. A
// button can appear or move under a resting pointer, and a double click can hit two of them, one
// after the other: such presses do nothing.

/** How long a button must be under a resting pointer before it can be pressed, ms. */
const SETTLE_MS = 500;
const GUARDED = 'data-guarded';

class PressGuard {
  /** Called with a button whose press was refused. */
  onRefused: (button: HTMLElement) => void = () => {};
  #over: { readonly button: Element | null; readonly since: number } | undefined;
  #down: { readonly button: Element; readonly allowed: boolean } | undefined;
  #x = Number.NaN;
  #y = Number.NaN;

  /** Calls `act` when a button is pressed on purpose. A button with `aria-disabled` does nothing. */
  watch(button: HTMLElement, act: () => void): void {
    if (this.#over === undefined) this.#listen();
    button.setAttribute(GUARDED, '');
    button.addEventListener('click', (event) => {
      event.stopPropagation();
      if (button.ariaDisabled === 'true') return;
      if (this.#isMeant(button, event)) act();
      else this.onRefused(button);
    });
  }

  #listen(): void {
    this.#over = { button: null, since: 0 };
    const options = { capture: true, passive: true } as const;
    document.addEventListener('pointerover', (event) => this.#entered(event), options);
    document.addEventListener('pointermove', (event) => this.#entered(event), options);
    document.addEventListener('pointerdown', (event) => this.#pressed(event), options);
  }

  /** The browser also reports a resting pointer when the layout under it changes. */
  #entered({ target, clientX, clientY }: PointerEvent): void {
    const button = guardedAt(target);
    const moved = clientX !== this.#x || clientY !== this.#y;
    this.#x = clientX;
    this.#y = clientY;
    if (this.#over?.button === button) return;
    this.#over = { button, since: moved ? Number.NEGATIVE_INFINITY : performance.now() };
  }

  #pressed(event: PointerEvent): void {
    this.#entered(event);
    const button = guardedAt(event.target);
    const since = this.#over?.since ?? 0;
    this.#down = button === null ? undefined : { button, allowed: performance.now() - since >= SETTLE_MS };
  }

  #isMeant(button: Element, { detail }: MouseEvent): boolean {
    // By keyboard, or by assistive technology.
    if (detail === 0) return true;
    return detail === 1 && this.#down?.button === button && this.#down.allowed;
  }
}

function guardedAt(target: EventTarget | null): Element | null {
  return target instanceof Element ? target.closest(`[${GUARDED}]`) : null;
}

export const pressGuard = new PressGuard();
