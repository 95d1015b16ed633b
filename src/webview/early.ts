// The first script of the page, small enough to run before the first paint. It adopts the styles
// and makes the composer (shell.html) usable immediately. The main script runs after the first
// paint, takes over the composer, and performs what the user requested.
import { isComposing } from './dom/dom';
import type { VsCodeApi } from './host/host';
import { messageField, watchTyping } from './input/typing';

declare global {
  /**
   * Set by the first script; the build wraps the main script in a call of it (scripts/build.mjs).
   */
  var parleyBegin: (start: () => void) => void;
}

/** Delay before the main script starts in a hidden page, which is never painted, ms. */
const NO_PICTURE = 100;

declare function acquireVsCodeApi(): VsCodeApi;

// VS Code has loaded everything: the host can start working while the page draws.
const api = acquireVsCodeApi();
api.postMessage({ type: 'begun' });

// The host embeds the styles, as each file costs a webview a round trip through VS Code before the
// first paint. They are adopted, so that the content security policy need not allow inline styles.
const styles = document.getElementById('styles')?.textContent;
if (styles) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

const field = messageField();
const button = document.querySelector<HTMLButtonElement>('button.primary');
const early = {
  api,
  wantsSend: false,
  end(): void {
    field?.removeEventListener('keydown', onKey);
    button?.removeEventListener('click', ask);
    window.removeEventListener('focus', takeFocus);
    endTyping();
  },
};

function ask(): void {
  early.wantsSend ||= field?.value.trim() !== '';
}

function onKey(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || event.shiftKey || event.altKey || isComposing(event)) return;
  event.preventDefault();
  // A repeated key was pressed for something else.
  if (!event.repeat) ask();
}

/** Moves the focus from the page as a whole, where VS Code puts it, to the composer. */
function takeFocus(): void {
  if (document.hasFocus() && document.activeElement === document.body) field?.focus();
}

const endTyping = watchTyping();
window.addEventListener('focus', takeFocus);
takeFocus();
field?.addEventListener('keydown', onKey);
button?.addEventListener('click', ask);
globalThis.parleyEarly = early;

globalThis.parleyBegin = (start) => {
  let begun = false;
  const begin = (): void => {
    if (begun) return;
    begun = true;
    start();
  };
  requestAnimationFrame(() => setTimeout(begin));
  setTimeout(begin, NO_PICTURE);
};
