// Finds the lines that differ between two texts.

export function changedLines(oldText: string, newText: string): string[] {
  const before = linesOf(oldText);
  const after = linesOf(newText);
  let start = 0;
  while (start < Math.min(before.length, after.length) && before[start] === after[start]) start++;
  let same = 0;
  const most = Math.min(before.length, after.length) - start;
  while (same < most && before.at(-1 - same) === after.at(-1 - same)) same++;
  const removed = before.slice(start, before.length - same).map((line) => `-${line}`);
  return [...removed, ...after.slice(start, after.length - same).map((line) => `+${line}`)];
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}
