// The HTML of the chat's page, with a content policy.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { env, l10n, Uri, type Webview } from 'vscode';
import { frameTemplate, pagePolicy } from '../../base/pagePolicy';

export function webviewRoot(extensionUri: Uri): Uri {
  return Uri.joinPath(extensionUri, 'dist', 'webview');
}

/**
 * Scripts by nonce, no inline style, nothing remote, Trusted Types without policies. Scripts and
 * styles are inline, as each file would cost a round trip before the first paint.
 */
export function pageHtml(webview: Webview, extensionUri: Uri, translation = currentTranslation()): string {
  const root = webviewRoot(extensionUri);
  const nonce = randomBytes(18).toString('base64url');
  const address = `${webview.asWebviewUri(root)}/`;
  const policy = pagePolicy(webview.cspSource, nonce, true);
  const texts = translation?.bundle;
  // URLs in an adopted style sheet are relative to the page.
  const styles = file(root, 'main.css').replaceAll('url("./', `url("${address}`);
  return `<!DOCTYPE html>
<html lang="${inAttribute(translation?.language ?? 'en')}" data-root="${address}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley</title>
</head>
<body>
<div id="root">${translated(file(root, 'shell.html'), texts)}</div>
${frameTemplate(nonce, file(root, 'diagramFrame.js'))}
${texts === undefined ? '' : `<script type="application/json" id="texts">${inertJson(texts)}</script>`}
<script type="text/css" id="styles">${escapedInElement(styles)}</script>
<script nonce="${nonce}">${escapedInElement(file(root, 'early.js'))}</script>
<script nonce="${nonce}">${escapedInElement(file(root, 'main.js'))}</script>
</body>
</html>`;
}

export interface Translation {
  readonly language: string;
  readonly bundle: Readonly<Record<string, string>>;
}

function currentTranslation(): Translation | undefined {
  return l10n.bundle && { language: env.language, bundle: l10n.bundle };
}

const files = new Map<string, string>();

function file(root: Uri, name: string): string {
  const known = files.get(name);
  if (known !== undefined) return known;
  const text = readFileSync(Uri.joinPath(root, name).fsPath, 'utf8');
  files.set(name, text);
  return text;
}

/** Keeps our own text from closing its element. */
function escapedInElement(text: string): string {
  return text.replaceAll(/<\/(script)/gi, '<\\/$1').replaceAll('<!--', '\\x3C!--');
}

function translated(shell: string, texts: Readonly<Record<string, string>> = {}): string {
  return shell.replaceAll(
    /((?:aria-label|placeholder)=")([^"]+)/g,
    (_whole, before: string, text: string) => `${before}${inAttribute(texts[text] ?? text)}`,
  );
}

/** In ASCII, as a single other character would double the size of the page's string in memory. */
function inAttribute(text: string): string {
  return text.replaceAll(/[&"<]|[^\x20-\x7e]/gu, (char) => `&#${char.codePointAt(0)};`);
}

/** JSON in ASCII that can't close its element. */
function inertJson(value: unknown): string {
  const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replaceAll(/<|[^\x20-\x7e]/g, escaped);
}
