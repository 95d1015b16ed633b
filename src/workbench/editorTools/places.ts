// Places in files as agents get them: relative path, line and column from 1, text of the line.

import { readFile, stat } from 'node:fs/promises';
import type { Location, LocationLink, Range, Uri } from 'vscode';
import { MAX_LINES } from '../../editorTools/answer';
import { openDocuments, pathKey } from '../editor/openDocuments';
import type { SessionPaths } from './sessionPaths';

export interface Place {
  /** Absolute. */
  readonly path: string;
  /** 0-based. */
  readonly line: number;
  readonly column: number;
}

/** Larger files are generated; their lines are not shown. */
const MAX_BYTES = 2 * 1024 * 1024;

export function placesOf(found: readonly (Location | LocationLink)[]): Place[] {
  const places = new Map<string, Place>();
  for (const one of found) {
    const place =
      'targetUri' in one
        ? placeOf(one.targetUri, one.targetSelectionRange ?? one.targetRange)
        : placeOf(one.uri, one.range);
    if (place) places.set(`${place.path}:${place.line}:${place.column}`, place);
  }
  return [...places.values()].sort(
    (one, other) =>
      (one.path < other.path ? -1 : one.path > other.path ? 1 : 0) ||
      one.line - other.line ||
      one.column - other.column,
  );
}

export function placeOf({ scheme, fsPath }: Uri, { start }: Range): Place | undefined {
  return scheme === 'file' ? { path: fsPath, line: start.line, column: start.character } : undefined;
}

/**
 * Returns a line for each place in the session's folders, and the number of places outside.
 * @param offset of the page
 * @throws the reason of `signal`
 */
export async function describePlaces(
  places: readonly Place[],
  paths: SessionPaths,
  offset: number,
  signal: AbortSignal,
): Promise<{ readonly lines: readonly string[]; readonly files: number; readonly outside: number }> {
  const insidePaths = await paths.inside(
    places.map(({ path }) => path),
    signal,
  );
  const inside = places.filter(({ path }) => insidePaths.has(path));
  const lines = inside.map(({ path, line, column }) => `${paths.show(path)}:${line + 1}:${column + 1}`);
  const texts = new LineTexts();
  for (const [index, { path, line }] of inside.slice(offset, offset + MAX_LINES).entries()) {
    signal.throwIfAborted();
    const text = await texts.line(path, line);
    if (text !== '') lines[offset + index] += `  ${text}`;
  }
  return { lines, files: new Set(inside.map(({ path }) => path)).size, outside: places.length - inside.length };
}

class LineTexts {
  readonly #open = openDocuments();
  readonly #read = new Map<string, readonly string[]>();

  async line(path: string, line: number): Promise<string> {
    const open = this.#open.get(pathKey(path));
    if (open) return line < open.lineCount ? open.lineAt(line).text.trim() : '';
    let lines = this.#read.get(path);
    if (!lines) {
      lines = await readLines(path);
      this.#read.set(path, lines);
    }
    return lines[line]?.trim() ?? '';
  }
}

async function readLines(path: string): Promise<readonly string[]> {
  try {
    const found = await stat(path);
    if (!found.isFile() || found.size > MAX_BYTES) return [];
    return (await readFile(path, 'utf8')).split(/\r\n?|\n/);
  } catch {
    return []; // gone meanwhile
  }
}
