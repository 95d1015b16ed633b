// The key that opens the find widget, in the page as in VS Code's editors.

const isMac = /\bMac/.test(navigator.userAgent);

/** Returns whether a key is Ctrl+F, on a Mac Cmd+F. */
export function isFindKey({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): boolean {
  return key.toLowerCase() === 'f' && (isMac ? metaKey && !ctrlKey : ctrlKey && !metaKey) && !shiftKey && !altKey;
}
