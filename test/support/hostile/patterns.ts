// Texts that cost a careless parser or layout the square of their length, as generators: a pattern, repeated until a size is reached.

/** One kind of text. */
export interface Pattern {
  readonly name: string;
  /** The text with about `size` characters. */
  make(size: number): string;
}

const UNITS: readonly string[] = [
  // Escapes and controls
  '\\',
  '\\\\',
  '\\[',
  '\\*',
  '\\`',
  '\\\n',
  '\r',
  '\r\n',
  '\t',
  ' ',
  '\n',
  ' \n',
  '\u0000',
  '\u200b',
  '\u202e',
  '\ud83d\ude00',
  'e\u0301',
  '\ud83d',
  // Code
  '`',
  '` ',
  '``',
  '``` ',
  '`a`',
  '`a',
  '``a`',
  '```\n',
  '```\n```\n',
  '~~~\n',
  '```js\na\n```\n',
  '    a\n',
  '\ta\n\n',
  // Formulas
  '$a',
  '$$ a\n',
  '$$\na\n$$\n',
  '\\(a',
  '\\(\\[',
  '\\[ a_1\n',
  // Tags, footnotes, folds and alerts
  '<kbd>',
  '</kbd>',
  '<kbd></kbd>',
  '<b><i>a</b>',
  '<kbd>*a',
  '[<kbd>a](b)',
  '<br>',
  '[^1]',
  '[^1]: a\n',
  '[^1]: [^1]: ',
  '<details>\n',
  '</details>\n',
  '<details><summary>a</summary>\n</details>\n',
  '> [!NOTE]\n',
  // Emphasis
  '*',
  '**',
  '***',
  '* ',
  '*a',
  'a*',
  '*a*',
  '*a_',
  '**a*',
  '*a **a ',
  'a**b',
  'a_b_',
  '_',
  '__a',
  '_a_',
  '~',
  '~~',
  '~~a',
  '~~a~~',
  '*~',
  '.*.',
  '"*"',
  '*"',
  '_(_',
  '**a__b',
  '***a**b*',
  'a***b',
  // Links and images
  '[',
  '[[',
  '](',
  '[]',
  '[](',
  '[a](',
  '[a](<b',
  '[a](b "',
  '[a](b',
  '[a](b)',
  '[a][b]',
  '[a]: b\n',
  '![',
  '!',
  '!!',
  '![a](b)',
  '![[',
  '[![a](b)',
  '[a](\\(',
  '[a]((',
  '(',
  ')',
  '[*a](b)*',
  // Addresses
  '<',
  '<a',
  '<a>',
  '<!--',
  '<a@b',
  '<http://',
  'http://',
  'https://a.b ',
  'https://a.b)',
  'http://(',
  'www.',
  'www.a',
  'a@b.c ',
  '&amp;',
  '&',
  '&#x26;',
  '&a',
  // Quotes and lists
  '>',
  '> ',
  '>> ',
  '> a\n',
  '>\n',
  '> > a\n',
  '>a\n\n',
  '- ',
  '-\n',
  '- a\n',
  '- a\n\n',
  '-   \n',
  '+ ',
  '+\n',
  '* a\n',
  '1. ',
  '1.\n',
  '1. a\n',
  '1) a\n',
  '999999999. a\n',
  '- 1. ',
  '> - ',
  '- > ',
  '- [ ] a\n',
  '- [ ] ',
  '  - a\n',
  '- a\n  b\n',
  '- a\n- b\n\n',
  // Headings and rules
  '#',
  '# ',
  '#\n',
  '# a\n',
  '# #\n',
  '###### a\n',
  '=\n',
  'a\n=\n',
  'a\n-\n',
  '---\n',
  '***\n',
  '* * *\n',
  '- - -',
  '_ _',
  // Tables
  '|',
  '||',
  '|a',
  '|-',
  '\\|',
  '|\n',
  '|a|\n',
  '|-|\n',
  '|a|\n|-|\n',
  '|a|\n|-|\n|b|\n',
  '|a|\n|-|\n\n',
  'a|b\n',
  ':-:|',
  // Plain text
  'a',
  'aa ',
  'a\n',
  'a\n\n',
  'a \n',
  'a  \n',
  '.',
  '_.',
  '-',
  '=',
  '+',
  '"',
  "'",
  '$',
  '$$',
  '{',
  '({[',
  '/*',
  '//',
  '# include <',
  '<div>',
  '</',
  'ä',
  '中',
  'ال',
  // Terminals
  '\u001b[',
  '\u001b',
  '\u001b]',
  '\u001b]0;',
  '\u001bP',
  '\u001b[0m',
  '\u001b[31mx',
  '\u001b[1;31;4;7mx',
  '\u001b[38;5;9mx',
  '\u001b[38;2;1;2;3mx',
  '\u001b[31;32;33;34;35;36mx\n',
  '\u001b[1A',
  '\u001b[2K',
  '\u001b[;;;;',
  '\b',
  'a\b',
  'a\r',
  'a\rb\n',
  '\u001b[31m\r',
  '\u001b(B',
];

const WRAPPED: readonly (readonly [head: string, unit: string, tail: string])[] = [
  ['```\n', 'a', '\n```'],
  ['```ts\n', 'a', '\n```\n'],
  ['```ts\n', '/*', '\n```\n'],
  ['```ts\n', '`${', '\n```\n'],
  ['```c\n', 'word ', '\n```\n'],
  ['```c\n', 'a\n', '\n```\n'],
  ['```xml\n', '<a ', '\n```\n'],
  ['```json\n', '[', '\n```\n'],
  ['```json\n', '{"a":', '\n```\n'],
  ['```python\n', "'''", '\n```\n'],
  ['```bash\n', '$(', '\n```\n'],
  ['```markdown\n', '*a_', '\n```\n'],
  ['```diff\n', '+a\n-b\n', '\n```\n'],
  ['```css\n', 'a{', '\n```\n'],
  ['```sql\n', '((', '\n```\n'],
  ['```yaml\n', '- - ', '\n```\n'],
  ['```php\n', '<?php ', '\n```\n'],
  ['```ruby\n', '#{', '\n```\n'],
  ['```swift\n', '\\(', '\n```\n'],
  ['```kotlin\n', '"${', '\n```\n'],
  ['| a | b |\n|---|---|\n', '| c | d |\n', ''],
  ['| a | b |\n|---|---|\n', '|', ''],
  ['| a | b |\n|---|---|\n', '| \\| ', ''],
  ['|', 'a|', '\n|-|'],
  ['|', '\\||', '\n|-|-|\n'],
  ['> ', '*a_', ''],
  ['> ', 'a\n', ''],
  ['- ', 'a\n', ''],
  ['- ', '  a\n', ''],
  ['- ', '*a_', ''],
  ['# ', '*a_', ''],
  ['# ', 'a#', ''],
  ['# a ', '#', ''],
  ['a', ' ', 'a'],
  ['a', ' ', '\nb'],
  ['![a](data:image/png;base64,', 'A', ')'],
  ['![a](data:image/png;base64,', 'A', ''],
  ['![a](data:image/png;base64,', 'A', ' b)'],
  ['![a](data:image/svg+xml;utf8,', '<svg/>', ')'],
  ['data:image/png;base64,', 'iVBORw0KGgoAAAANSUhEUgAA', ''],
  ['[a](', 'b', ')'],
  ['[a](<', 'b ', '>)'],
  ['[a](b "', 'c', '")'],
  ['[', 'a', '](b)'],
  ['**', 'a ', '**'],
  ['https://a.b/', '_', ''],
  ['https://a.b/', '.', ''],
  ['https://a.b/', '(', ''],
  ['https://a.b/', ')', ''],
  ['https://a.b/', '_.', ' x'],
  ['<https://a.b/', 'c', '>'],
  ['<a', ' b', '>'],
  ['\u001b[31m', 'a', '\u001b[0m'],
  ['\u001b]8;;http://a', 'b', '\u001b\\'],
  ['\u001b]', 'a', ''],
  ['\u001b[', '1;', 'm'],
  ['a', '\b', 'b'],
];

/** Marks around each other: as many opened as closed, or a few thousand nested. */
const PAIRS: readonly (readonly [open: string, close: string])[] = [
  ['[', ']'],
  ['[', '](a)'],
  ['![', '](a)'],
  ['*', '*'],
  ['**', '**'],
  ['*a ', ' b*'],
  ['**a ', ' b**'],
  ['_a ', ' b_'],
  ['~~a ', ' b~~'],
  ['(', ')'],
  ['<', '>'],
  ['> ', ''],
  ['- ', '\n'],
  ['*a **b ', ' c** d*'],
  ['[a ', '](b)'],
  ['`', '`'],
];

function repeated(unit: string, size: number): string {
  return unit.repeat(Math.max(1, Math.ceil(size / unit.length)));
}

/** A backtick more in each run: `a ``a ```a. */
function growingRuns(char: string, size: number): string {
  let text = '';
  for (let length = 1; text.length < size; length++) text += `${char.repeat(length)}a`;
  return text;
}

/** A list in a list in a list, each indented more. */
function staircase(mark: string, size: number): string {
  let text = '';
  for (let depth = 0; text.length < size; depth = (depth + 1) % 300) text += `${' '.repeat(depth * 2)}${mark}a\n`;
  return text;
}

export const PATTERNS: readonly Pattern[] = [
  ...UNITS.map((unit) => ({ name: JSON.stringify(unit), make: (size: number) => repeated(unit, size) })),
  ...WRAPPED.map(([head, unit, tail]) => ({
    name: `${JSON.stringify(head)} ${JSON.stringify(unit)}… ${JSON.stringify(tail)}`,
    make: (size: number) => head + repeated(unit, size - head.length - tail.length) + tail,
  })),
  ...PAIRS.map(([open, close]) => ({
    name: `${JSON.stringify(open)}… a ${JSON.stringify(close)}…`,
    make: (size: number) => {
      const count = Math.floor(size / (open.length + close.length));
      return `${open.repeat(count)}a${close.repeat(count)}`;
    },
  })),
  ...['`', '*', '_', '~', '#', '>'].map((char) => ({
    name: `runs of ${char} that grow`,
    make: (size: number) => growingRuns(char, size),
  })),
  ...['- ', '1. ', '> ', '* '].map((mark) => ({
    name: `staircase of ${JSON.stringify(mark)}`,
    make: (size: number) => staircase(mark, size),
  })),
  {
    name: 'backticks, a line, backticks and a letter',
    make: (size) => `${'`'.repeat(size / 2)}\n${'`'.repeat(size / 2)}x`,
  },
  { name: 'an unclosed fence of backticks', make: (size) => `${'`'.repeat(size / 3)}\n${'a\n'.repeat(size / 3)}` },
  { name: 'rows of many cells', make: (size) => repeated(`|${'a|'.repeat(60)}\n|${'-|'.repeat(60)}\n|`, size) },
  { name: 'a row of many cells', make: (size) => `|${'a|'.repeat(60)}\n|${'-|'.repeat(60)}\n${repeated('|', size)}` },
  {
    name: 'a table of 1,000 columns',
    make: (size) => `|${'a|'.repeat(1000)}\n|${'-|'.repeat(1000)}\n${repeated('|\n', size)}`,
  },
];

/** The marks that texts of a fuzzer are made of. */
export const MARKS: readonly string[] = [
  ...'\\`*_~[]()!<>#-+=|&:.@/"\'{}$\t \n'.split(''),
  '\n\n',
  '  ',
  '    ',
  '```',
  '**',
  '](',
  '![',
  '1. ',
  '- ',
  '> ',
  'a',
  'b c',
  'http://a.b',
  'www.',
  '&amp;',
  '|-|',
  '\u001b[31m',
  '\u001b[',
  '\r',
  '\b',
];

/** A text of a few marks, in an order that `random` (0 ≤ x < 1) chooses, with stretches that repeat. */
export function fuzzText(random: () => number, size: number): string {
  const pick = (): string => MARKS[Math.floor(random() * MARKS.length)]!;
  const parts: string[] = [];
  let length = 0;
  while (length < size) {
    const unit = Array.from({ length: 1 + Math.floor(random() * 6) }, pick).join('');
    const count = random() < 0.3 ? 1 : Math.ceil((random() ** 3 * (size - length)) / unit.length);
    const part = unit.repeat(Math.max(1, Math.min(count, Math.ceil((size - length) / unit.length))));
    parts.push(part);
    length += part.length;
  }
  return parts.join('');
}

/** Numbers that look random and are the same in each run. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
