// Moves the focus only while the page has it, so that it is not taken from an editor.
import { focusComposer, quietly } from './wake';

let pending: (() => void) | undefined;

/** Calls `act` as soon as the page has the focus. Only the last pending call counts. */
export function whenFocused(act: () => void): void {
  if (document.hasFocus()) act();
  else pending = act;
}

/**
 * Defers every `focus()` of the page until it has the focus. When VS Code focuses the page as a
 * whole, the focus moves to the last deferred element, otherwise to the composer, unless a pointer
 * is pressed.
 */
export function watchPageFocus(): void {
  const nativeFocus = HTMLElement.prototype.focus;
  HTMLElement.prototype.focus = function focus(options) {
    whenFocused(() => {
      if (this.isConnected) quietly(() => nativeFocus.call(this, options));
    });
  };
  let pressed = false;
  const options = { capture: true, passive: true } as const;
  window.addEventListener('pointerdown', () => (pressed = true), options);
  window.addEventListener('pointerup', () => (pressed = false), options);
  window.addEventListener('pointercancel', () => (pressed = false), options);
  // The release goes to VS Code's context menu.
  window.addEventListener('contextmenu', () => (pressed = false), options);
  window.addEventListener('focus', () => {
    const act = pending;
    pending = undefined;
    if (pressed) return;
    act?.();
    // The deferred element may have been removed.
    if (document.activeElement === document.body) focusComposer();
  });
}
