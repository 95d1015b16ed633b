// Puts a session into the clipboard as Markdown and as rich text.
import { post } from '../host/host';

/** If the browser does not let the page write, the host writes the Markdown. */
export async function writeClipboard({ text, html }: { readonly text: string; readonly html: string }): Promise<void> {
  const types = { 'text/plain': text, 'text/html': html };
  const parts = Object.entries(types).map(([type, part]) => [type, new Blob([part], { type })]);
  try {
    await navigator.clipboard.write([new ClipboardItem(Object.fromEntries(parts))]);
  } catch {
    post({ type: 'copy', text });
  }
}
