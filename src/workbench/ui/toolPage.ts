// The HTML of a tool's page: a tab beside the chat with a script and a style sheet of its own.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { env, l10n, Uri, type Webview } from 'vscode';
import { frameTemplate, pagePolicy } from '../../base/pagePolicy';

export function toolRoot(extensionUri: Uri): Uri {
  return Uri.joinPath(extensionUri, 'dist', 'webview');
}

/** @param name of its script and style sheet @param frame script of a sandboxed frame, if any */
export function toolHtml(webview: Webview, extensionUri: Uri, name: string, frame?: string): string {
  const root = toolRoot(extensionUri);
  const nonce = randomBytes(18).toString('base64url');
  const address = (file: string): string => webview.asWebviewUri(Uri.joinPath(root, file)).toString();
  const language = l10n.bundle ? env.language : 'en';
  return `<!DOCTYPE html>
<html lang="${language.replace(/[^\w-]/g, '')}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${pagePolicy(webview.cspSource, nonce, frame !== undefined)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley</title>
<link rel="stylesheet" href="${address('main.css')}">
<link rel="stylesheet" href="${address(`${name}.css`)}">
</head>
<body>
<div id="root"></div>
${frame === undefined ? '' : frameTemplate(nonce, read(root, frame))}
<script type="application/json" id="texts">${JSON.stringify(l10n.bundle ?? {}).replaceAll('<', '\\u003c')}</script>
<script type="module" nonce="${nonce}" src="${address(`${name}.js`)}"></script>
</body>
</html>`;
}

function read(root: Uri, name: string): string {
  return readFileSync(Uri.joinPath(root, name).fsPath, 'utf8');
}
