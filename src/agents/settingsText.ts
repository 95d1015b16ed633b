// Edits entries of `parley.agents` in the text of a settings file, preserving comments.
import { isDeepStrictEqual } from 'node:util';
import {
  createScanner,
  findNodeAtLocation,
  type Node,
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

export interface SettingsText {
  readonly value: unknown;
  readonly errorLine?: number;
}

export function parseSettings(text: string): SettingsText {
  const errors: ParseError[] = [];
  const json = text.replace(/^\uFEFF/, '');
  const value: unknown = parse(json, errors, { allowTrailingComma: true });
  const [error] = errors;
  return error ? { value, errorLine: json.slice(0, error.offset).split('\n').length } : { value };
}

/** Returns undefined if `parley.agents` is missing or the text has an error. */
export function agentsIn(text: string): unknown {
  const { value, errorLine } = parseSettings(text);
  return errorLine === undefined ? at(value, KEY) : undefined;
}

/**
 * Returns whether VS Code would damage the setting by writing it: it drops comments, and of
 * duplicate keys reads the last but writes the first.
 */
export function needsOwnEdit(text: string, entries: Entries): boolean {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const node = root && nodeAt(root, [KEY]);
  if (!node || errors.length > 0 || !isDeepStrictEqual(at(parseSettings(text).value, KEY), entries)) return false;
  let isCommented = findNodeAtLocation(root, [KEY]) !== node;
  visit(text.slice(node.offset, node.offset + node.length), {
    onComment: () => {
      isCommented = true;
    },
  });
  return isCommented;
}

export function editEntries(text: string, before: Entries, after: Entries): string {
  return changesOf(before, after, [KEY], 2).reduce(
    (edited, { path, value }) => (value === undefined ? without(edited, path) : withValue(edited, path, value)),
    text,
  );
}

export function entryOffset(text: string, id: string): number | undefined {
  const root = parseTree(text, [], { allowTrailingComma: true });
  return root && nodeAt(root, [KEY, id])?.parent?.offset;
}

function withValue(text: string, path: readonly string[], value: unknown): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const node = root && nodeAt(root, path);
  const unit = /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const written = (indent: string): string =>
    (JSON.stringify(value, undefined, unit) ?? '').split('\n').join(`${eol}${indent}`);
  if (node) return spliced(text, node.offset, node.length, written(indentAt(text, node.offset)));
  const object = root && nodeAt(root, path.slice(0, -1));
  if (!object) return text;
  const last = object.children?.at(-1);
  const outer = indentAt(text, object.offset);
  const indent = last ? indentAt(text, last.offset) : `${outer}${unit}`;
  const end = object.offset + object.length - 1;
  // After comments at the end, which belong to the previous property.
  const from = text.slice(0, end).trimEnd().length;
  const property = `${eol}${indent}${JSON.stringify(path.at(-1))}: ${written(indent)}${eol}${outer}`;
  const added = spliced(text, from, end - from, property);
  const lastEnd = last && last.offset + last.length;
  return lastEnd === undefined || commaAfter(text, lastEnd) !== undefined ? added : spliced(added, lastEnd, 0, ',');
}

/** Removes a property and one comma, but no comment, with all duplicates of the property. */
function without(text: string, path: readonly string[]): string {
  const shortened = withoutLast(text, path);
  return shortened === text ? text : without(shortened, path);
}

function withoutLast(text: string, path: readonly string[]): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const property = root && nodeAt(root, path)?.parent;
  if (!property) return text;
  const siblings = property.parent?.children ?? [];
  const previous = siblings[siblings.indexOf(property) - 1];
  const end = property.offset + property.length;
  const after = commaAfter(text, end);
  // From back to front, so that offsets stay valid.
  const rest = after === undefined ? text : spliced(text, after, 1, '');
  const isAlone = /^[ \t]*\r?\n/.test(rest.slice(end)) && /\n[ \t]*$/.test(rest.slice(0, property.offset));
  const from = isAlone ? rest.slice(0, property.offset).trimEnd().length : property.offset;
  const cut = spliced(rest, from, end - from, '');
  const before = after === undefined && previous ? commaAfter(text, previous.offset + previous.length) : undefined;
  return before === undefined ? cut : spliced(cut, before, 1, '');
}

/** Of duplicate keys, the last one, as in VS Code. */
function nodeAt(root: Node, path: readonly string[]): Node | undefined {
  return path.reduce<Node | undefined>(
    (object, key) => object?.children?.findLast(({ children }) => children?.[0]?.value === key)?.children?.[1],
    root,
  );
}

function spliced(text: string, offset: number, length: number, put: string): string {
  return text.slice(0, offset) + put + text.slice(offset + length);
}

function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  return scanner.scan() === COMMA ? scanner.getTokenOffset() : undefined;
}

interface Change {
  readonly path: readonly string[];
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
