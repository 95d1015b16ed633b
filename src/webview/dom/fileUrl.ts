// URLs of the panel's own files.

/** Scripts can be inline, so the page provides the folder. */
export function fileUrl(name: string): string {
  return new URL(name, new URL(document.documentElement.dataset.root ?? '.', document.baseURI)).href;
}
