// HTML of a tool page: a tab beside the chat with its own script and style sheet.
import { randomBytes } from 'node:crypto';
import { env, l10n, Uri, type Webview } from 'vscode';
import { pagePolicy } from '../../base/pagePolicy';

export function toolRoot(extensionUri: Uri): Uri {
  return Uri.joinPath(extensionUri, 'dist', 'webview');
}

/** @param name of its script and style sheet */
export function toolHtml(webview: Webview, extensionUri: Uri, name: string): string {
  const root = toolRoot(extensionUri);
  const nonce = randomBytes(18).toString('base64url');
  const address = (file: string): string => webview.asWebviewUri(Uri.joinPath(root, file)).toString();
  const language = l10n.bundle ? env.language : 'en';
  return `<!DOCTYPE html>
<html lang="${language.replace(/[^\w-]/g, '')}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${pagePolicy(webview.cspSource, nonce)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley</title>
<link rel="stylesheet" href="${address('main.css')}">
<link rel="stylesheet" href="${address(`${name}.css`)}">
</head>
<body>
<div id="root"></div>
<script type="application/json" id="texts">${JSON.stringify(l10n.bundle ?? {}).replaceAll('<', '\\u003c')}</script>
<script type="module" nonce="${nonce}" src="${address(`${name}.js`)}"></script>
</body>
</html>`;
}
