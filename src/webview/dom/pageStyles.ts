// The styles of the page. The host embeds them, as each file that a webview fetches costs a round
// trip through VS Code that delays the first paint. They are adopted as a style sheet, so that the
// content security policy need not allow inline styles.

/**
 * Adopts the style sheet in `<script type="text/css" id="styles">`; without one, the page links a
 * sheet itself.
 */
export function adoptPageStyles(): void {
  const text = document.getElementById('styles')?.textContent;
  if (!text) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

/**
 * Returns the URL of a file in the webview's folder. Scripts can be inline, so the page names the
 * folder.
 */
export function fileUrl(name: string): string {
  return new URL(name, new URL(document.documentElement.dataset.root ?? '.', document.baseURI)).href;
}
