// The first script of the page, small enough to run before the first picture: the page's styles, and a composer (shell.html) that can be written in at once. The
// panel's own script follows when that picture is drawn, takes the composer over as it is, and does what was asked of it meanwhile.
import { isComposing } from './dom/dom';
import { adoptPageStyles } from './dom/pageStyles';

declare global {
  /** Set by the first script; the panel's script is wrapped into a call of it (scripts/build.mjs). */
  var parleyBegin: (start: () => void) => void;
  /** What was done before the panel's script ran; it takes this over and ends it. */
  var parleyEarly: { wantsSend: boolean; end(): void } | undefined;
}

/** A picture that nobody looks at is never drawn; then the panel starts without it, ms. */
const NO_PICTURE = 100;

adoptPageStyles();

const field = document.querySelector<HTMLTextAreaElement>('textarea.message');
const button = document.querySelector<HTMLButtonElement>('button.primary');
const early = {
  wantsSend: false,
  end(): void {
    field?.removeEventListener('keydown', onKey);
    button?.removeEventListener('click', ask);
  },
};

function ask(): void {
  early.wantsSend ||= field?.value.trim() !== '';
}

function onKey(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || event.shiftKey || event.altKey || isComposing(event)) return;
  event.preventDefault();
  // One that is still down was pressed for something else.
  if (!event.repeat) ask();
}

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
