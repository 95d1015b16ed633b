// The first script of the page, small enough to run before the first paint. It adopts the page's
// styles and makes the composer (shell.html) usable immediately. The main script follows after the
// first paint, takes over the composer, and performs what was requested before.
import { isComposing } from './dom/dom';
import type { VsCodeApi } from './host/host';
import { messageField, watchTyping } from './input/typing';

declare global {
  /** Set by the first script; the main script is wrapped in a call of it (scripts/build.mjs). */
  var parleyBegin: (start: () => void) => void;
}

/** A hidden page is never painted; the main script then starts after this time, ms. */
const NO_PICTURE = 100;

declare function acquireVsCodeApi(): VsCodeApi;

// VS Code has nothing left to load: the host can begin its work while the page draws.
const api = acquireVsCodeApi();
api.postMessage({ type: 'begun' });

// The host embeds the styles, as each file that a webview fetches costs a round trip through VS
// Code that delays the first paint. Adopted, so that the content security policy need not allow
// inline styles.
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
  // A held key was pressed for something else.
  if (!event.repeat) ask();
}

/** VS Code gives the focus to the page as a whole. */
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
