// Changes entries of `parley.agents` in the text of a settings file, where the comments between them
// are to stay.
import { isDeepStrictEqual } from 'node:util';
import * as l10n from '@vscode/l10n';
import {
  applyEdits,
  createScanner,
  findNodeAtLocation,
  modify,
  type ParseError,
  parse,
  parseTree,
  type SyntaxKind,
  visit,
} from 'jsonc-parser';
import { at, isMarked } from '../base/untrusted';

const KEY = 'parley.agents';
const COMMA: SyntaxKind.CommaToken = 5;

type Entries = Readonly<Record<string, unknown>>;

/**
 * Parses JSON with comments, as settings files have it. What is wrong in it is left out.
 * @throws SyntaxError where it cannot be read at all
 */
export function parseSettings(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text.replace(/^\uFEFF/, ''), errors, { allowTrailingComma: true });
  if (value === undefined && errors.length > 0) throw new SyntaxError(l10n.t("it isn't JSON"));
  return value;
}

/**
 * Returns whether a settings file has these entries, with comments among them. VS Code writes a
 * setting as a whole, which would remove those.
 */
export function hasComments(text: string, entries: Entries): boolean {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const node = root && findNodeAtLocation(root, [KEY]);
  if (!node || errors.length > 0 || !isDeepStrictEqual(at(parseSettings(text), KEY), entries)) return false;
  let isCommented = false;
  visit(text.slice(node.offset, node.offset + node.length), {
    onComment: () => {
      isCommented = true;
    },
  });
  return isCommented;
}

/** Changes the entries that differ, property by property; the rest of the text stays as it is. */
export function editEntries(text: string, before: Entries, after: Entries): string {
  return changesOf(before, after, [KEY], 2).reduce(
    (edited, { path, value }) =>
      value === undefined
        ? without(edited, path)
        : applyEdits(edited, modify(edited, [...path], value, { formattingOptions: formattingOf(edited) })),
    text,
  );
}

/** Removes a property and one comma beside it, but no comment: the next one may be of its neighbour. */
function without(text: string, path: readonly string[]): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const property = root && findNodeAtLocation(root, [...path])?.parent;
  if (!property) return text;
  const siblings = property.parent?.children ?? [];
  const previous = siblings[siblings.indexOf(property) - 1];
  const end = property.offset + property.length;
  const comma = commaAfter(text, end) ?? (previous && commaAfter(text, previous.offset + previous.length));
  const cut = (from: string, start: number, length: number): string =>
    from.slice(0, start) + from.slice(start + length);
  // From the back, so that the offsets hold.
  if (comma === undefined) return cut(text, property.offset, property.length);
  return comma < property.offset
    ? cut(cut(text, property.offset, property.length), comma, 1)
    : cut(cut(text, comma, 1), property.offset, property.length);
}

/** The offset of a comma that comes next, behind comments. */
function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  return scanner.scan() === COMMA ? scanner.getTokenOffset() : undefined;
}

interface Change {
  readonly path: readonly string[];
  /** Undefined: the property is removed. */
  readonly value: unknown;
}

function changesOf(before: Entries, after: Entries, path: readonly string[], depth: number): readonly Change[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key): readonly Change[] => {
    const [old, value] = [at(before, key), at(after, key)];
    if (isDeepStrictEqual(old, value)) return [];
    if (depth > 1 && isMarked(old) && isMarked(value))
      return changesOf(old as Entries, value as Entries, [...path, key], depth - 1);
    return [{ path: [...path, key], value }];
  });
}

function formattingOf(text: string): {
  readonly tabSize: number;
  readonly insertSpaces: boolean;
  readonly eol: string;
} {
  const indent = /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
  return {
    tabSize: indent.startsWith('\t') ? 4 : indent.length,
    insertSpaces: !indent.startsWith('\t'),
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
}
