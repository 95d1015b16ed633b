// The page of the chat: a root, a style sheet, a script, and a policy that allows nothing else.
import { randomBytes } from 'node:crypto';
import { env, Uri, type Webview } from 'vscode';

/** The folder that a chat webview may load from. */
export function webviewRoot(extensionUri: Uri): Uri {
  return Uri.joinPath(extensionUri, 'dist', 'webview');
}

/** The HTML of the chat. No inline script, no inline style, no remote anything; scripts by nonce; Trusted Types on with no policy allowed. */
export function webviewHtml(webview: Webview, extensionUri: Uri): string {
  const root = webviewRoot(extensionUri);
  const nonce = randomBytes(18).toString('base64url');
  const script = webview.asWebviewUri(Uri.joinPath(root, 'main.js'));
  const style = webview.asWebviewUri(Uri.joinPath(root, 'main.css'));
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    `img-src ${webview.cspSource} data: blob:`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${env.language.replace(/[^\w-]/g, '')}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${style}">
<title>Parley</title>
</head>
<body>
<div id="root"></div>
<script type="module" nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}
