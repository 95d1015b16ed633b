// Text within HTML. Pure.
import { revealControls } from '../base/revealControls';

export function escapeHtml(text: string): string {
  return revealControls(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
