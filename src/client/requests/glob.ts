// Globs of permission rules. `*` matches a part of a name, `**` any number of folders.

/** Case-sensitive; the path is relative, with slashes. */
export function matchesPath(glob: string, path: string): boolean {
  return matchesParts(glob.split('/'), path.split('/'));
}

export function matchesText(glob: string, text: string): boolean {
  return matchesStars(glob.split(/\*+/), text);
}

function matchesParts(glob: readonly string[], path: readonly string[]): boolean {
  // Ends of matching path prefixes: no backtracking, whatever the glob.
  let ends = new Set([0]);
  for (const [index, part] of glob.entries()) {
    const next = new Set<number>();
    const isLast = index === glob.length - 1;
    for (const end of ends) {
      if (part === '**') {
        for (let to = isLast ? end + 1 : end; to <= path.length; to++) next.add(to);
      } else if (end < path.length && matchesStars(part.split(/\*+/), path[end]!)) next.add(end + 1);
    }
    ends = next;
  }
  return ends.has(path.length);
}

function matchesStars(pieces: readonly string[], text: string): boolean {
  const [first = '', ...others] = pieces;
  const last = others.pop();
  if (last === undefined) return text === first;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let rest = text.slice(first.length, text.length - last.length);
  for (const piece of others) {
    const found = rest.indexOf(piece);
    if (found < 0) return false;
    rest = rest.slice(found + piece.length);
  }
  return true;
}
