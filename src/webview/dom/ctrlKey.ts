// Keys that are pressed with Ctrl, and on a Mac with Cmd, as VS Code has them.

export const isMac = /\bMac/.test(navigator.userAgent);

/**
 * Returns whether a key is Ctrl and this key, on a Mac Cmd and this key.
 * @param letter in lower case, or `enter`
 */
export function isCtrl({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent, letter: string): boolean {
  return key.toLowerCase() === letter && (isMac ? metaKey && !ctrlKey : ctrlKey && !metaKey) && !shiftKey && !altKey;
}
