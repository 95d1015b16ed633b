// The content security policy of the pages that Parley shows.

/**
 * Returns a policy that allows nothing but the page's own files: scripts by nonce, no inline
 * styles, nothing from elsewhere, and no HTML from strings.
 * @param source where files of the page come from, as VS Code names it
 */
export function pagePolicy(source: string, nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${source}`,
    `font-src ${source}`,
    `img-src ${source} data: blob:`,
    'media-src data:',
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}
