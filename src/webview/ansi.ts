// Raw output of a program, made fit to be shown: what a terminal would have overwritten is gone, and of the escapes only colours stay. Pure.

const ESC = '\\u001b';
/** Escapes that are no colours: titles and other strings, control sequences that do not end in `m`, character sets, single letters. */
const NOT_COLOR = new RegExp(
  [
    `${ESC}\\][^\\u0007${ESC}]*(?:\\u0007|${ESC}\\\\|$)`,
    `${ESC}\\[[0-9;:<=>?]*[ -/]*[@-ln-~]`,
    `${ESC}[()*+#%][0-9A-Za-z]`,
    `${ESC}P[^${ESC}]*(?:${ESC}\\\\|$)`,
    `${ESC}[=>78DEHMNOZc]`,
  ].join('|'),
  'g',
);
const COLOR = new RegExp(`${ESC}\\[[0-9;:]*m`, 'g');
/** Also what changes the direction of the text around it. */
const OTHER_CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal output is made of them
  /[\u0000-\u0007\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g;

/** Removes cursor movement, titles and other controls, and applies carriage returns and backspaces. Colour escapes stay. */
export function cleanOutput(text: string): string {
  const clean = text.replace(NOT_COLOR, '').replace(/\r+\n/g, '\n').replace(OTHER_CONTROLS, '');
  const typed = clean.includes('\b') ? applyBackspaces(clean) : clean;
  return typed.includes('\r') ? typed.split('\n').map(applyReturns).join('\n') : typed;
}

function applyBackspaces(text: string): string {
  const kept: string[] = [];
  for (const char of text) {
    if (char !== '\b') kept.push(char);
    else if (kept.length > 0 && kept.at(-1) !== '\n') kept.pop();
  }
  return kept.join('');
}

/** What stands behind the last carriage return of a line, with the colours that were switched on before it. */
function applyReturns(line: string): string {
  const trimmed = line.replace(/\r+$/, '');
  const kept = trimmed.slice(trimmed.lastIndexOf('\r') + 1);
  if (kept === trimmed) return kept;
  const before = trimmed.slice(0, trimmed.length - kept.length);
  return (before.match(COLOR) ?? []).join('') + kept;
}
