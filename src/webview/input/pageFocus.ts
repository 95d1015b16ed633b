// The one rule of focus: the page moves the focus only while it has it. A page that calls `focus()`
// otherwise takes the keyboard from the editor that the user types in.
import { focusComposer, quietly } from './wake';

/** What to do when VS Code gives the page the focus; the last one wins. */
let pending: (() => void) | undefined;

/** Does it while the page has the focus, or else once it has. */
export function whenFocused(act: () => void): void {
  if (document.hasFocus()) act();
  else pending = act;
}

/**
 * Holds every `focus()` of the page to the rule. When VS Code focuses the page as a whole, the
 * focus moves on to what asked for it last, or else to the composer, unless a pointer is pressed.
 */
export function watchPageFocus(): void {
  const give = HTMLElement.prototype.focus;
  HTMLElement.prototype.focus = function focus(options) {
    whenFocused(() => {
      if (this.isConnected) quietly(() => give.call(this, options));
    });
  };
  let pressed = false;
  const options = { capture: true, passive: true } as const;
  window.addEventListener('pointerdown', () => (pressed = true), options);
  window.addEventListener('pointerup', () => (pressed = false), options);
  window.addEventListener('pointercancel', () => (pressed = false), options);
  // The menu of VS Code gets the end of the press.
  window.addEventListener('contextmenu', () => (pressed = false), options);
  window.addEventListener('focus', () => {
    const act = pending;
    pending = undefined;
    if (pressed) return;
    act?.();
    // What asked for it may be gone.
    if (document.activeElement === document.body) focusComposer();
  });
}
