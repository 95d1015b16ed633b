// The styles of the page. The host embeds them, as each file that a webview fetches costs a round
// trip through VS Code that delays the first paint. They are adopted as a style sheet, so that the
// content security policy need not allow inline styles.

export function adoptPageStyles(): void {
  const text = document.getElementById('styles')?.textContent;
  if (!text) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

/** Scripts can be inline, so the page names the folder. */
export function fileUrl(name: string): string {
  return new URL(name, new URL(document.documentElement.dataset.root ?? '.', document.baseURI)).href;
}
