// Prepares raw terminal output for display: drops overwritten text and all escapes but colors.
// Pure.

const ESC = '\\u001b';
/** Strings such as titles, control sequences without final `m`, character sets, single letters. */
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
const COLOR = new RegExp(`${ESC}\\[([0-9;:]*)m`, 'g');
/** Includes characters that change the text direction. */
const OTHER_CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal output is made of them
  /[\u0000-\u0007\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g;

/** Applies carriage returns and backspaces, and removes all controls except colors. */
export function cleanOutput(text: string): string {
  const clean = text
    .replace(NOT_COLOR, '')
    .replace(/(?<!\r)\r+\n/g, '\n')
    .replace(OTHER_CONTROLS, '');
  const typed = clean.includes('\b') ? applyBackspaces(clean) : clean;
  return typed.includes('\r') ? typed.split('\n').map(applyReturns).join('\n') : typed;
}

export function plainOutput(text: string): string {
  return cleanOutput(text).replace(COLOR, '').replaceAll('\u001b', '');
}

function applyBackspaces(text: string): string {
  const kept: string[] = [];
  for (const char of text) {
    if (char !== '\b') kept.push(char);
    else if (kept.length > 0 && kept.at(-1) !== '\n') kept.pop();
  }
  return kept.join('');
}

function applyReturns(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end--;
  const trimmed = line.slice(0, end);
  const kept = trimmed.slice(trimmed.lastIndexOf('\r') + 1);
  if (kept === trimmed) return kept;
  const before = trimmed.slice(0, trimmed.length - kept.length);
  return (before.match(COLOR) ?? []).join('') + kept;
}

export type AnsiColor = string;

export type Decoration = 'bold' | 'dim' | 'italic' | 'underline' | 'hidden' | 'strikethrough';

export interface StyledText {
  readonly text: string;
  readonly color: AnsiColor | undefined;
  readonly background: AnsiColor | undefined;
  readonly decorations: readonly Decoration[];
}

const MAX_RUNS = 1_500;
const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
const DECORATIONS: ReadonlyMap<number, Decoration> = new Map([
  [1, 'bold'],
  [2, 'dim'],
  [3, 'italic'],
  [4, 'underline'],
  [8, 'hidden'],
  [9, 'strikethrough'],
]);
const DECORATION_ENDS: ReadonlyMap<number, readonly Decoration[]> = new Map([
  [21, ['bold']],
  [22, ['bold', 'dim']],
  [23, ['italic']],
  [24, ['underline']],
  [28, ['hidden']],
  [29, ['strikethrough']],
]);

export function styledText(text: string): StyledText[] {
  const runs: { text: string; key: string; style: Omit<StyledText, 'text'> }[] = [];
  const style = new Style();
  const add = (part: string): void => {
    const plain = part.replaceAll('\u001b', '');
    if (plain === '') return;
    const last = runs.at(-1);
    if (runs.length >= MAX_RUNS) style.reset();
    const { key } = style;
    if (last?.key === key) last.text += plain;
    else runs.push({ text: plain, key, style: style.read() });
  };
  let from = 0;
  for (const { index, 0: mark, 1: codes } of text.matchAll(COLOR)) {
    add(text.slice(from, index));
    from = index + mark.length;
    style.apply(codes!);
  }
  add(text.slice(from));
  return runs.map((one) => ({ text: one.text, ...one.style }));
}

class Style {
  #color: AnsiColor | undefined;
  #background: AnsiColor | undefined;
  #reverse = false;
  #decorations = new Set<Decoration>();

  get key(): string {
    return [this.#color, this.#background, this.#reverse, ...this.#decorations].join();
  }

  read(): Omit<StyledText, 'text'> {
    const [color, background] = [this.#color, this.#background];
    const decorations = [...this.#decorations];
    return this.#reverse ? { color: background, background: color, decorations } : { color, background, decorations };
  }

  reset(): void {
    this.#color = this.#background = undefined;
    this.#reverse = false;
    this.#decorations.clear();
  }

  apply(codes: string): void {
    const numbers = codes.split(/[;:]/, 64).map(Number);
    for (let at = 0; at < numbers.length; at++) {
      const code = numbers[at]!;
      const decoration = DECORATIONS.get(code);
      if (code === 0) this.reset();
      else if (decoration) this.#decorations.add(decoration);
      else if (DECORATION_ENDS.has(code)) for (const one of DECORATION_ENDS.get(code)!) this.#decorations.delete(one);
      else if (code === 7 || code === 27) this.#reverse = code === 7;
      else if (code === 38 || code === 48) at += this.#extended(code === 38, numbers.slice(at + 1, at + 5));
      else this.#named(code);
    }
  }

  /** Reads the arguments of 38 or 48: `5;n` or `2;r;g;b`. */
  #extended(isColor: boolean, numbers: readonly number[]): number {
    const [kind, ...rest] = numbers;
    const isTrue = kind === 2;
    if (!isTrue && kind !== 5) return 0;
    const values = rest.slice(0, isTrue ? 3 : 1);
    const isValid = values.length === (isTrue ? 3 : 1) && values.every((value) => value >= 0 && value <= 255);
    if (isValid) this.#set(isColor, isTrue ? values.join(', ') : paletteColor(values[0]!));
    return 1 + values.length;
  }

  #named(code: number): void {
    if (code === 39) this.#color = undefined;
    else if (code === 49) this.#background = undefined;
    else if (code >= 30 && code <= 37) this.#set(true, `ansi-${NAMES[code - 30]}`);
    else if (code >= 40 && code <= 47) this.#set(false, `ansi-${NAMES[code - 40]}`);
    else if (code >= 90 && code <= 97) this.#set(true, `ansi-bright-${NAMES[code - 90]}`);
    else if (code >= 100 && code <= 107) this.#set(false, `ansi-bright-${NAMES[code - 100]}`);
  }

  #set(isColor: boolean, value: AnsiColor): void {
    if (isColor) this.#color = value;
    else this.#background = value;
  }
}

function paletteColor(index: number): AnsiColor {
  if (index < 16) return `ansi-${index < 8 ? '' : 'bright-'}${NAMES[index % 8]}`;
  if (index >= 232) {
    const grey = (index - 232) * 10 + 8;
    return `${grey}, ${grey}, ${grey}`;
  }
  const level = (step: number): number => (step === 0 ? 0 : step * 40 + 55);
  const cube = index - 16;
  return `${level(Math.floor(cube / 36))}, ${level(Math.floor(cube / 6) % 6)}, ${level(cube % 6)}`;
}
