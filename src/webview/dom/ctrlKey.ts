// Keyboard shortcuts with Ctrl, or Cmd on a Mac.

export const isMac = /\bMac/.test(navigator.userAgent);

/**
 * Returns whether the event is Ctrl (on a Mac, Cmd) and this key.
 * @param letter in lower case, or `enter`
 */
export function isCtrl({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent, letter: string): boolean {
  return key.toLowerCase() === letter && (isMac ? metaKey && !ctrlKey : ctrlKey && !metaKey) && !shiftKey && !altKey;
}
