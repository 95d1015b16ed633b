// Ignores unintended presses: of a button that just appeared or moved, and second clicks.
import { announce } from '../host/session';
import { strings } from '../text/strings';

/** Minimum time that a button must be under a resting pointer before a press counts, ms. */
const SETTLE_MS = 500;

let over: { readonly button: Element | null; readonly since: number } | undefined;
let down: { readonly button: Element; readonly isAllowed: boolean } | undefined;
let x = Number.NaN;
let y = Number.NaN;

/**
 * Returns properties for a button that calls `act` on an intended press. Does nothing if the button
 * is `aria-disabled`.
 */
export function guarded(act: () => void) {
  if (over === undefined) listen();
  return {
    'data-guarded': '',
    onClick(event: MouseEvent): void {
      const button = event.currentTarget as HTMLElement;
      event.stopPropagation();
      if (button.ariaDisabled === 'true') return;
      if (isMeant(button, event)) act();
      else announce(strings.changes.pressAgain, 'polite');
    },
  };
}

function listen(): void {
  over = { button: null, since: 0 };
  const options = { capture: true, passive: true } as const;
  document.addEventListener('pointerover', entered, options);
  document.addEventListener('pointermove', entered, options);
  document.addEventListener('pointerdown', pressed, options);
}

/** Also called when the layout changes under a resting pointer. */
function entered({ target, clientX, clientY }: PointerEvent): void {
  const button = guardedAt(target);
  const hasMoved = clientX !== x || clientY !== y;
  x = clientX;
  y = clientY;
  if (over?.button === button) return;
  over = { button, since: hasMoved ? Number.NEGATIVE_INFINITY : performance.now() };
}

function pressed(event: PointerEvent): void {
  entered(event);
  const button = guardedAt(event.target);
  const since = over?.since ?? 0;
  down = button === null ? undefined : { button, isAllowed: performance.now() - since >= SETTLE_MS };
}

function isMeant(button: Element, { detail }: MouseEvent): boolean {
  if (detail === 0) return true;
  return detail === 1 && down?.button === button && down.isAllowed;
}

function guardedAt(target: EventTarget | null): Element | null {
  return target instanceof Element ? target.closest('[data-guarded]') : null;
}
