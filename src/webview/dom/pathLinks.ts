// Turns file paths in a text, such as command output, into links.
import { link } from './dom';

const NAME = '[\\p{L}\\p{N}_@.+-]';
/** A bracketed name, as in routes: `(shop)`, `[id].tsx`, `[[...slug]]`. */
const BRACKETED = `(?:\\(${NAME}+\\)|\\[{1,2}${NAME}+\\]{1,2})`;
const SEGMENT = `(?:${BRACKETED}${NAME}*|${NAME}+)`;
/**
 * A path, with a line as compilers and search tools print it: `a.ts:3`, `a.ts:3:14`, `a.ts(3,14)`.
 */
const PATH = new RegExp(
  `(?<![\\p{L}\\p{N}_@.+:/\\\\-])(?:file://)?(?:[A-Za-z]:)?[\\\\/]?(?:${SEGMENT}[\\\\/])*${BRACKETED}?${NAME}*\\.[A-Za-z][A-Za-z0-9]{0,7}(?![\\p{L}\\p{N}_/\\\\-])(?::\\d+(?::\\d+)?|\\(\\d+,\\d+\\))?`,
  'gu',
);
const LINE = /\.[A-Za-z][A-Za-z0-9]{0,7}[:(]\d/;
const IN_BRACKETS = /\((\d+),(\d+)\)$/;
/** Maximum number of links, as each is a tab stop. */
const MAX_LINKS = 100;
const MAX_TEXT = 60_000;

export function pathLinks(
  openLink: (href: string) => void,
  needsLine = false,
): (text: string) => readonly (Node | string)[] {
  let remaining = MAX_LINKS;
  return (text) => {
    if (text.length > MAX_TEXT || (needsLine && !LINE.test(text))) return [text];
    const parts: (Node | string)[] = [];
    let from = 0;
    for (const { index, 0: path } of text.matchAll(PATH)) {
      const isPlace = LINE.test(path) || (!needsLine && /[\\/]/.test(path));
      if (!isPlace || remaining-- <= 0) continue;
      const href = path.replace(IN_BRACKETS, ':$1:$2');
      parts.push(
        text.slice(from, index),
        link('link file', path, path, () => openLink(href)),
      );
      from = index + path.length;
    }
    return [...parts, text.slice(from)].filter((part) => part !== '');
  };
}
