// The content security policy of Parley's pages.

/**
 * Allows only the page's own files: scripts by nonce, no inline styles, no HTML from strings.
 * @param hasFrame allows what {@link frameTemplate}, which inherits the policy, needs: style
 * elements with the nonce, style attributes, and a policy for HTML from strings
 */
export function pagePolicy(source: string, nonce: string, hasFrame = false): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${source}${hasFrame ? ` 'nonce-${nonce}'; style-src-attr 'unsafe-inline'` : ''}`,
    `font-src ${source}`,
    `img-src ${source} data: blob:`,
    'media-src data:',
    "require-trusted-types-for 'script'",
    `trusted-types ${hasFrame ? 'default' : "'none'"}`,
  ].join('; ');
}

/** Returns a template of a frame without any access: opaque origin, no storage, no requests. */
export function frameTemplate(nonce: string, script: string): string {
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; style-src-attr 'unsafe-inline'`;
  const html = `<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><body><script nonce="${nonce}">${script}</script>`;
  const srcdoc = html.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return `<template id="frame"><iframe sandbox="allow-scripts" srcdoc="${srcdoc}"></iframe></template>`;
}
