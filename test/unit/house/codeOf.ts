// Separates the code of a source text from its comments, so that a search in one does not find the
// other.

interface Piece {
  readonly kind: 'code' | 'comment' | 'template';
  /** Offset in the source. */
  readonly at: number;
  readonly text: string;
}

/**
 * Returns the code; comments become blanks, and templates, which may hold whole programs, are
 * emptied.
 */
export function codeOf(text: string): string {
  const code = { code: (piece: string) => piece, template: () => '``', comment: (piece: string) => blank(piece) };
  return pieces(text)
    .map((piece) => code[piece.kind](piece.text))
    .join('');
}

/** Returns the comments with their offsets. */
export function commentsOf(text: string): readonly { readonly at: number; readonly text: string }[] {
  return pieces(text).filter(({ kind }) => kind === 'comment');
}

function blank(comment: string): string {
  return comment.startsWith('/*') ? ' ' : '';
}

function pieces(text: string): readonly Piece[] {
  const found: Piece[] = [];
  // The code before a comment or template, to tell a regular expression from a division.
  let before = '';
  let from = 0;
  let at = 0;
  const cut = (kind: 'comment' | 'template', end: number): void => {
    const code = text.slice(from, at);
    found.push({ kind: 'code', at: from, text: code }, { kind, at, text: text.slice(at, end) });
    before = kind === 'template' ? '`' : `${before}${code}`.slice(-40);
    from = end;
    at = end;
  };
  while (at < text.length) {
    const char = text.charAt(at);
    const pair = text.slice(at, at + 2);
    if (pair === '//') cut('comment', indexOrEnd(text, '\n', at));
    else if (pair === '/*') cut('comment', indexOrEnd(text, '*/', at + 2) + 2);
    else if (char === '`') cut('template', templateEnd(text, at + 1));
    else if (char === "'" || char === '"') at = stringEnd(text, at + 1, char);
    else if (char === '/' && startsRegExp(`${before}${text.slice(Math.max(from, at - 40), at)}`))
      at = regExpEnd(text, at + 1);
    else at += 1;
  }
  return [...found, { kind: 'code', at: from, text: text.slice(from) }];
}

function indexOrEnd(text: string, part: string, from: number): number {
  const index = text.indexOf(part, from);
  return index < 0 ? text.length : index;
}

function stringEnd(text: string, from: number, quote: string): number {
  for (let at = from; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '\\') at++;
    else if (char === quote) return at + 1;
    else if (char === '\n') return at;
  }
  return text.length;
}

function templateEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '\\') at++;
    else if (char === '`') return at + 1;
    else if (char === '$' && text.charAt(at + 1) === '{') at = expressionEnd(text, at + 2) - 1;
  }
  return text.length;
}

function expressionEnd(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '{') depth++;
    else if (char === '}' && --depth === 0) return at + 1;
    else if (char === '`') at = templateEnd(text, at + 1) - 1;
    else if (char === "'" || char === '"') at = stringEnd(text, at + 1, char) - 1;
  }
  return text.length;
}

function startsRegExp(before: string): boolean {
  return /(^|[(,=:[!&|?{};\n+]|=>|\breturn)\s*$/.test(before.slice(-40));
}

function regExpEnd(text: string, from: number): number {
  let inClass = false;
  for (let at = from; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '\\') at++;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '\n') return at;
    else if (char === '/' && !inClass) return at + 1;
  }
  return text.length;
}
