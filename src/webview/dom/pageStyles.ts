// The styles of the page, brought along by the page itself where the host put them in: each file that a webview fetches costs a round trip through VS Code, and
// nothing is drawn before it. Adopted, so that the content policy need not allow inline styles.

/** Adopts the style sheet in `<script type="text/css" id="styles">`; without one the page links a sheet by itself. */
export function adoptPageStyles(): void {
  const text = document.getElementById('styles')?.textContent;
  if (!text) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

/** The address of a file of the webview's folder. The page may have its script inside, so it says where the folder is. */
export function fileUrl(name: string): string {
  return new URL(name, new URL(document.documentElement.dataset.root ?? '.', document.baseURI)).href;
}
