// The content security policy of the pages that Parley shows.

/**
 * Returns a policy that allows nothing but the page's own files: scripts by nonce, no inline
 * styles, nothing from elsewhere, and no HTML from strings.
 * @param hasFrame the page has the frame of {@link frameTemplate}, which inherits the policy: it
 * may have style elements with the nonce, style attributes, and a policy for HTML from strings
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

/**
 * Returns a template of a frame that has access to nothing: an origin of its own, no storage, no
 * address, and no request to anywhere.
 */
export function frameTemplate(nonce: string, script: string): string {
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; style-src-attr 'unsafe-inline'`;
  const html = `<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><body><script nonce="${nonce}">${script}</script>`;
  const srcdoc = html.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return `<template id="frame"><iframe sandbox="allow-scripts" srcdoc="${srcdoc}"></iframe></template>`;
}
