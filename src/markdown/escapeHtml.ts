// Text within HTML. Pure.
import { revealControls } from '../base/revealControls';

/** Returns the text as it is shown between and in quotes of HTML. */
export function escapeHtml(text: string): string {
  return revealControls(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
