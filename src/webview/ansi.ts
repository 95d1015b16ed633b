// Raw output of a program, made fit to be shown: what a terminal would have overwritten is gone, and of the escapes only colours stay. Pure.

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal output is made of them
const NOT_COLOR =
  /\u001b(?:\][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|\[[0-9;:<=>?]*[ -/]*[@-ln-~]|[()*+#%][0-9A-Za-z]|P[^\u001b]*(?:\u001b\\|$)|[=>78DEHMNOZc])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same
const OTHER_CONTROLS = /[\u0000-\u0007\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g;

/** Removes cursor movement, titles and other controls, and applies carriage returns and backspaces. Colour escapes stay. */
export function cleanOutput(text: string): string {
  let clean = text.replace(NOT_COLOR, '').replace(/\r+\n/g, '\n').replace(OTHER_CONTROLS, '');
  if (clean.includes('\b')) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a backspace takes the character before it
    while (/[^\n\u0008\u001b]\u0008/.test(clean)) clean = clean.replace(/[^\n\u0008\u001b]\u0008/g, '');
    clean = clean.replaceAll('\b', '');
  }
  if (!clean.includes('\r')) return clean;
  return clean
    .split('\n')
    .map((line) => {
      const trimmed = line.replace(/\r+$/, '');
      const kept = trimmed.slice(trimmed.lastIndexOf('\r') + 1);
      if (kept === trimmed) return kept;
      // Colours that were switched on in the overwritten part still hold.
      const before = trimmed.slice(0, trimmed.length - kept.length);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: an escape begins with one
      return (before.match(/\u001b\[[0-9;:]*m/g) ?? []).join('') + kept;
    })
    .join('\n');
}
