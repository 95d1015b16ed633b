// Rows of GFM tables. Pure.

export type Align = 'left' | 'right' | 'center' | '';

export function splitRow(line: string): string[] {
  const text = line.trim();
  const cells: string[] = [];
  let from = text.startsWith('|') ? 1 : 0;
  let hasEscape = false;
  const end = (to: number): void => {
    const cell = text.slice(from, to).trim();
    cells.push(hasEscape ? cell.replaceAll('\\|', '|') : cell);
    from = to + 1;
    hasEscape = false;
  };
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\' && text[at + 1] === '|') {
      hasEscape = true;
      at++;
    } else if (text[at] === '|') end(at);
  }
  if (from < text.length) end(text.length);
  return cells;
}

export function isDelimiterRow(line: string): boolean {
  let pipes = 0;
  let dashes = 0;
  for (let at = 0; at < line.length; at++) {
    const char = line[at];
    if (char === '|') pipes++;
    else if (char === '-') dashes++;
    else if (char !== ':' && char !== ' ' && char !== '\t') return false;
  }
  return pipes > 0 && dashes > 0 && splitRow(line).every((cell) => /^:?-+:?$/.test(cell));
}

export function alignOf(cell: string): Align {
  if (cell.startsWith(':')) return cell.endsWith(':') ? 'center' : 'left';
  return cell.endsWith(':') ? 'right' : '';
}
