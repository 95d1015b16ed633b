// The read-only tools: what the editor and its language servers know about a session's folders.

import { readFile, stat } from 'node:fs/promises';
import {
  type CallHierarchyIncomingCall,
  type CallHierarchyItem,
  type CallHierarchyOutgoingCall,
  type Hover,
  type Location,
  type LocationLink,
  type Range,
  TabInputText,
  type Uri,
  window,
} from 'vscode';
import { isBelow } from '../../client/requests/roots';
import { MAX_LINES, type ToolAnswer } from '../../editorTools/answer';
import type { ToolCall } from '../../editorTools/toolCaller';
import { openDocuments, pathKey } from '../editor/openDocuments';
import { openLocation } from '../editor/openLocation';
import { listFrom } from './askEditor';
import type { Diagnoser } from './diagnose';
import { openAnySource, openFile } from './documents';
import type { Problem, ProblemList, Severity } from './readers/problems';
import type { SessionPaths } from './sessionPaths';
import { findSymbol, type SymbolQuery, symbolsNamed, symbolsOf } from './symbolPosition';

const MAX_SYMBOLS = 2000;
const MAX_TEXT = 8000;

interface ReadToolsOptions {
  readonly paths: SessionPaths;
  readonly diagnoser: Diagnoser;
  readonly changed: () => readonly string[];
}

export class ReadTools {
  readonly #options: ReadToolsOptions;
  readonly #paths: SessionPaths;

  constructor(options: ReadToolsOptions) {
    this.#options = options;
    this.#paths = options.paths;
  }

  readonly get_diagnostics: ToolCall<'get_diagnostics'> = async ({ path: asked, severity = 'info' }, signal) => {
    const path = asked === undefined ? undefined : await this.#paths.resolve(asked);
    const isFile = path !== undefined && (await stat(path)).isFile();
    const changed = this.#options.changed().filter((one) => path === undefined || isBelow(path, one));
    const files = isFile ? [path] : [...(await this.#paths.inside(changed, signal))];
    const roots = path === undefined ? this.#paths.roots : [path];
    const found = await this.#options.diagnoser.problems(files, roots, signal);
    const problems = found.only(await this.#paths.inside(found.paths, signal), severity);
    const where = path === undefined ? '' : ` in ${this.#paths.show(path)}`;
    const lines = {
      length: problems.length,
      slice: (from: number, to: number) => problems.slice(from, to).map((one) => this.#problemLine(one)),
    };
    // Most servers check only open files.
    const note = isFile ? '' : '; files that were neither opened nor changed may have more: ask for one by its path';
    return { summary: `${countProblems(problems)}${where}${note}`, lines };
  };

  readonly go_to_definition: ToolCall<'go_to_definition'> = (args, signal) =>
    this.#places('vscode.executeDefinitionProvider', args, ['definition', 'definitions'], signal);

  readonly find_references: ToolCall<'find_references'> = (args, signal) =>
    this.#places('vscode.executeReferenceProvider', args, ['reference', 'references'], signal);

  readonly find_implementations: ToolCall<'find_implementations'> = (args, signal) =>
    this.#places('vscode.executeImplementationProvider', args, ['implementation', 'implementations'], signal);

  readonly call_hierarchy: ToolCall<'call_hierarchy'> = async ({ direction = 'incoming', ...query }, signal) => {
    const { document, position, name } = await findSymbol(query, this.#paths, signal);
    const [item] = await listFrom<CallHierarchyItem>(signal, 'vscode.prepareCallHierarchy', document.uri, position);
    if (!item) return { summary: `The language server knows no calls of ${name}`, failed: true };
    const calls = await (direction === 'incoming' ? incomingCalls(item, signal) : outgoingCalls(item, signal));
    const inside = await this.#paths.inside(
      calls.map(({ item: { uri } }) => uri.fsPath),
      signal,
    );
    const lines = calls.flatMap(({ item: other, range }) => {
      const place = placeOf(other.uri, range);
      if (!place || !inside.has(place.path)) return [];
      return [`${this.#paths.show(place.path)}:${place.line + 1}:${place.column + 1}  ${other.name}`];
    });
    const what = direction === 'incoming' ? `of ${name}` : `from ${name}`;
    const summary = `${lines.length} ${lines.length === 1 ? 'call' : 'calls'} ${what}`;
    return { summary: `${summary}${outsideNote(calls.length - lines.length)}`, lines };
  };

  readonly hover: ToolCall<'hover'> = async (query, signal) => {
    const { document, position, name } = await findSymbol(query, this.#paths, signal);
    const hovers = await listFrom<Hover>(signal, 'vscode.executeHoverProvider', document.uri, position);
    const text = hovers
      .flatMap(({ contents }) => contents)
      .map((one) => (typeof one === 'string' ? one : one.value))
      .filter((one) => one.trim() !== '')
      .join('\n\n');
    if (text === '') return { summary: `The language server knows nothing about ${name}`, failed: true };
    const where = `${this.#paths.show(document.uri.fsPath)}:${position.line + 1}`;
    return { summary: `${name} in ${where}`, lines: text.slice(0, MAX_TEXT).split('\n') };
  };

  readonly document_symbols: ToolCall<'document_symbols'> = async ({ path }, signal) => {
    const resolved = await this.#paths.resolve(path);
    await openFile(resolved);
    const symbols = await symbolsOf(resolved, signal);
    const lines = symbols.map(
      ({ name, kind, container, line, endLine }) =>
        `${line}${endLine > line ? `-${endLine}` : ''}  ${kind} ${container === undefined ? '' : `${container}.`}${name}`,
    );
    return { summary: `${lines.length} symbols in ${this.#paths.show(resolved)}`, lines };
  };

  readonly workspace_symbols: ToolCall<'workspace_symbols'> = async ({ query }, signal) => {
    const { roots } = this.#paths;
    let found = await symbolsNamed(query, roots, MAX_SYMBOLS, signal);
    if (found.length === 0) {
      await openAnySource(roots);
      found = await symbolsNamed(query, roots, MAX_SYMBOLS, signal);
    }
    const inside = await this.#paths.inside(
      found.map(({ path }) => path),
      signal,
    );
    const lines = found
      .filter(({ path }) => inside.has(path))
      .map(({ name, kind, container, path, line }) => {
        const within = container === undefined ? '' : `${container}.`;
        return `${this.#paths.show(path)}:${line}  ${kind} ${within}${name}`;
      });
    return { summary: `${lines.length} symbols match “${query}”`, lines };
  };

  readonly get_selection: ToolCall<'get_selection'> = async () => {
    const selection = selectionIn(this.#paths.roots);
    if (!selection || !(await this.#paths.isInside(selection.path)))
      return { summary: "No file of the session's folders is shown in an editor" };
    const { path, startLine, endLine, text } = selection;
    const place = `${this.#paths.show(path)}:${startLine}`;
    if (text === '') return { summary: `Nothing is selected; the cursor is in ${place}` };
    return { summary: `Selected in ${place}-${endLine}`, lines: text.slice(0, MAX_TEXT).split(/\r\n?|\n/) };
  };

  readonly open_editors: ToolCall<'open_editors'> = async () => {
    const tabs = window.tabGroups.all.flatMap(({ tabs: all, isActive }) => all.map((tab) => ({ tab, isActive })));
    const files = tabs.flatMap(({ tab, isActive }) =>
      tab.input instanceof TabInputText && tab.input.uri.scheme === 'file'
        ? [{ path: tab.input.uri.fsPath, isActive: isActive && tab.isActive, isDirty: tab.isDirty }]
        : [],
    );
    const inside = await this.#paths.inside(files.map(({ path }) => path));
    const lines = files
      .filter(({ path }) => inside.has(path))
      .map(
        ({ path, isActive, isDirty }) =>
          `${this.#paths.show(path)}${isActive ? '  active' : ''}${isDirty ? '  unsaved' : ''}`,
      );
    return { summary: `${lines.length} files are open`, lines };
  };

  readonly get_unsaved: ToolCall<'get_unsaved'> = async () => {
    const dirty = [...openDocuments().values()].filter(({ isDirty }) => isDirty).map(({ uri }) => uri.fsPath);
    const inside = await this.#paths.inside(dirty);
    const lines = dirty.filter((path) => inside.has(path)).map((path) => this.#paths.show(path));
    return { summary: `${lines.length} files have unsaved changes`, lines };
  };

  readonly open_file: ToolCall<'open_file'> = async ({ path, line }) => {
    const resolved = await this.#paths.resolve(path);
    await openLocation({ path: resolved, line });
    return { summary: `${this.#paths.show(resolved)} is shown to the user` };
  };

  async #places(
    command: string,
    { offset = 0, ...query }: SymbolQuery & { readonly offset?: number | undefined },
    [one, many]: readonly [string, string],
    signal: AbortSignal,
  ): Promise<ToolAnswer> {
    const { document, position, name } = await findSymbol(query, this.#paths, signal);
    const answer = await listFrom<Location | LocationLink>(signal, command, document.uri, position);
    const { lines, files, outside } = await describePlaces(placesOf(answer), this.#paths, offset, signal);
    const count = `${lines.length} ${lines.length === 1 ? one : many} of ${name}`;
    const spread = files > 1 ? ` in ${files} files` : '';
    return { summary: `${count}${spread}${outsideNote(outside)}`, lines };
  }

  #problemLine({ path, line, column, severity, message, source, code }: Problem): string {
    const by = [source, code].filter((part) => part !== undefined).join(' ');
    return `${this.#paths.show(path)}:${line}:${column} ${severity}${by === '' ? '' : ` ${by}`}: ${message}`;
  }
}

interface FoundCall {
  readonly item: CallHierarchyItem;
  readonly range: Range;
}

async function incomingCalls(item: CallHierarchyItem, signal: AbortSignal): Promise<FoundCall[]> {
  const calls = await listFrom<CallHierarchyIncomingCall>(signal, 'vscode.provideIncomingCalls', item);
  return calls.map(({ from, fromRanges }) => ({ item: from, range: fromRanges[0] ?? from.selectionRange }));
}

async function outgoingCalls(item: CallHierarchyItem, signal: AbortSignal): Promise<FoundCall[]> {
  const calls = await listFrom<CallHierarchyOutgoingCall>(signal, 'vscode.provideOutgoingCalls', item);
  return calls.map(({ to }) => ({ item: to, range: to.selectionRange }));
}

function countProblems(problems: ProblemList): string {
  const names: Readonly<Record<Severity, readonly [string, string]>> = {
    error: ['error', 'errors'],
    warning: ['warning', 'warnings'],
    info: ['info', 'infos'],
    hint: ['hint', 'hints'],
  };
  const parts = (Object.keys(names) as Severity[]).flatMap((severity) => {
    const [one, many] = names[severity];
    const count = problems.count(severity);
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  });
  return parts.length === 0 ? 'No problems' : parts.join(', ');
}

function outsideNote(count: number): string {
  return count === 0 ? '' : `; ${count} more outside of the session's folders`;
}

export interface Place {
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

async function describePlaces(
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
    return [];
  }
}

interface EditorSelection {
  readonly path: string;
  /** 1-based. */
  readonly startLine: number;
  readonly endLine: number;
  readonly text: string;
}

/** Returns the selection of the active editor, or of a visible one while the chat is active. */
function selectionIn(roots: readonly string[]): EditorSelection | undefined {
  const editors = [...(window.activeTextEditor ? [window.activeTextEditor] : []), ...window.visibleTextEditors];
  const shown = editors.find(
    ({ document: { uri } }) => uri.scheme === 'file' && roots.some((root) => isBelow(root, uri.fsPath)),
  );
  if (!shown) return undefined;
  const { document, selection } = shown;
  return {
    path: document.uri.fsPath,
    startLine: selection.start.line + 1,
    endLine: selection.end.line + 1,
    text: document.getText(selection),
  };
}
