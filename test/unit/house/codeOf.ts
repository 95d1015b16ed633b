// The code of a source text alone, so that a search in it does not stumble over comments and over programs that are written out in templates.

/** Blanks comments and the contents of templates; strings and regular expressions stay. */
export function codeOf(text: string): string {
  let code = '';
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    const pair = text.slice(at, at + 2);
    let end = at + 1;
    if (pair === '//') {
      end = indexOrEnd(text, '\n', at);
    } else if (pair === '/*') {
      end = indexOrEnd(text, '*/', at + 2) + 2;
      code += ' ';
    } else if (char === '`') {
      end = templateEnd(text, at + 1);
      code += '``';
    } else if (char === "'" || char === '"') {
      end = stringEnd(text, at + 1, char);
      code += text.slice(at, end);
    } else if (char === '/' && startsRegExp(code)) {
      end = regExpEnd(text, at + 1);
      code += text.slice(at, end);
    } else {
      code += char;
    }
    at = end;
  }
  return code;
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
