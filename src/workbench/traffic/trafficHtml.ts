// The HTML of the traffic inspector.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { env, l10n, Uri, type Webview } from 'vscode';
import { pagePolicy } from '../../base/pagePolicy';

/** The folder that the page may load from. @param extensionUri where Parley is installed */
export function trafficRoot(extensionUri: Uri): Uri {
  return Uri.joinPath(extensionUri, 'dist', 'webview');
}

/** The page, with its texts in the language of VS Code. */
export function trafficHtml(webview: Webview, extensionUri: Uri): string {
  const root = trafficRoot(extensionUri);
  const nonce = randomBytes(18).toString('base64url');
  const address = (name: string): string => webview.asWebviewUri(Uri.joinPath(root, name)).toString();
  const language = l10n.bundle ? env.language : 'en';
  return `<!DOCTYPE html>
<html lang="${language.replace(/[^\w-]/g, '')}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${pagePolicy(webview.cspSource, nonce)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley</title>
<link rel="stylesheet" href="${address('main.css')}">
<link rel="stylesheet" href="${address('traffic.css')}">
</head>
<body>
<div id="root"></div>
<script type="application/json" id="texts">${translations(root)}</script>
<script type="module" nonce="${nonce}" src="${address('traffic.js')}"></script>
</body>
</html>`;
}

/** JSON of the texts of the page, by the English ones; it cannot end the element it stands in. */
function translations(root: Uri): string {
  const { bundle } = l10n;
  if (!bundle) return '{}';
  const keys = JSON.parse(readFileSync(Uri.joinPath(root, 'traffic-texts.json').fsPath, 'utf8')) as readonly string[];
  const texts = Object.fromEntries(keys.flatMap((key) => (key in bundle ? [[key, bundle[key]]] : [])));
  return JSON.stringify(texts).replaceAll('<', '\\u003c');
}
