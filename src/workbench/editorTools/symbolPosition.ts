// Finds a symbol by its name and a file, line or text of the line.

import { type DocumentSymbol, type Position, type SymbolInformation, SymbolKind, type TextDocument, Uri } from 'vscode';
import { isBelow } from '../../client/requests/roots';
import { askEditor } from './askEditor';
import { openAnySource, openFile } from './documents';
import type { SessionPaths } from './sessionPaths';

export interface SymbolQuery {
  readonly symbol: string;
  readonly path?: string | undefined;
  readonly line?: number | undefined;
  readonly line_text?: string | undefined;
}

interface SymbolPosition {
  readonly document: TextDocument;
  readonly position: Position;
  readonly name: string;
}

const MAX_CHOICE = 20;

export async function findSymbol(
  query: SymbolQuery,
  paths: SessionPaths,
  signal: AbortSignal,
): Promise<SymbolPosition> {
  // Models write `Class.method` and `method()`.
  const name =
    query.symbol
      .replace(/\(.*\)$/s, '')
      .split(/::|[.#]/)
      .pop()
      ?.trim() || query.symbol;
  if (query.path === undefined) return inWorkspace(name, paths, signal);
  const path = await paths.resolve(query.path);
  const document = await openFile(path);
  const uses = usesOf(name, document);
  const lineText = plain(query.line_text ?? '');
  const wanted = uses.filter(
    ({ line }) =>
      (query.line === undefined || line === query.line - 1 || lineText !== '') &&
      plain(document.lineAt(line).text).includes(lineText),
  );
  const near = query.line === undefined ? wanted[0] : closest(wanted.length > 0 ? wanted : uses, query.line - 1);
  const declared =
    query.line === undefined && lineText === ''
      ? (await symbolsOf(path, signal)).find((symbol) => nameOf(symbol) === name)
      : undefined;
  const position = (declared && closest(uses, declared.line - 1)) ?? near;
  if (position) return { document, position, name };
  const where = `${paths.show(path)}${query.line === undefined ? '' : `:${query.line}`}`;
  throw new Error(`${name} does not stand in ${where}${lineText === '' ? '' : ' in such a line'}.`);
}

async function inWorkspace(name: string, paths: SessionPaths, signal: AbortSignal): Promise<SymbolPosition> {
  const named = async (): Promise<FoundSymbol[]> => {
    const found = await symbolsNamed(name, paths.roots, 1000, signal);
    const inside = await paths.inside(
      found.map(({ path }) => path),
      signal,
    );
    return found.filter((symbol) => nameOf(symbol) === name && inside.has(symbol.path));
  };
  let found = await named();
  if (found.length === 0) {
    await openAnySource(paths.roots);
    found = await named();
  }
  const [first, ...others] = found;
  if (!first) throw new Error(`No symbol of the workspace is called ${name}. Say the path of a file that uses it.`);
  if (others.length > 0) {
    const places = found.slice(0, MAX_CHOICE).map((symbol) => `${paths.show(symbol.path)}:${symbol.line}`);
    throw new Error(`Several symbols are called ${name}: say the path of one of them. ${places.join(', ')}`);
  }
  const document = await openFile(first.path);
  const position = closest(usesOf(name, document), first.line - 1);
  if (!position) throw new Error(`${name} is no longer in ${paths.show(first.path)}.`);
  return { document, position, name };
}

/** Servers append parameters to function names. */
function nameOf({ name }: FoundSymbol): string {
  return name.replace(/\(.*$/s, '');
}

function usesOf(name: string, document: TextDocument): Position[] {
  const text = document.getText();
  const isWord = (at: number): boolean => /[\p{L}\p{N}_$]/u.test(text[at] ?? '');
  const uses: Position[] = [];
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    if (!isWord(at - 1) && !isWord(at + name.length)) uses.push(document.positionAt(at));
  }
  return uses;
}

function closest(positions: readonly Position[], line: number): Position | undefined {
  return positions.toSorted((one, other) => Math.abs(one.line - line) - Math.abs(other.line - line))[0];
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

export interface FoundSymbol {
  readonly name: string;
  readonly kind: string;
  readonly container?: string;
  readonly path: string;
  /** 1-based: line of the name, and last line of the symbol. */
  readonly line: number;
  readonly endLine: number;
}

/** Returns at most `most` symbols below the folders; none if the servers fail. */
export async function symbolsNamed(
  query: string,
  roots: readonly string[],
  most: number,
  signal: AbortSignal,
): Promise<FoundSymbol[]> {
  const found = await provided<SymbolInformation[]>(signal, 'vscode.executeWorkspaceSymbolProvider', query);
  const symbols: FoundSymbol[] = [];
  for (const { name, kind, containerName, location } of found ?? []) {
    const { uri, range } = location;
    if (uri.scheme !== 'file' || !roots.some((root) => isBelow(root, uri.fsPath))) continue;
    symbols.push({
      name,
      kind: kindName(kind),
      container: containerName || undefined,
      path: uri.fsPath,
      line: range.start.line + 1,
      endLine: range.end.line + 1,
    });
    if (symbols.length === most) break;
  }
  return symbols;
}

export async function symbolsOf(path: string, signal: AbortSignal): Promise<FoundSymbol[]> {
  const found = await provided<(DocumentSymbol | SymbolInformation)[]>(
    signal,
    'vscode.executeDocumentSymbolProvider',
    Uri.file(path),
  );
  const symbols: FoundSymbol[] = [];
  const add = (symbol: DocumentSymbol | SymbolInformation, container: string | undefined): void => {
    const { name } = symbol;
    const isTree = 'children' in symbol;
    const range = isTree ? symbol.range : symbol.location.range;
    const from = isTree ? symbol.selectionRange : range;
    const within = container ?? ('containerName' in symbol ? symbol.containerName || undefined : undefined);
    symbols.push({
      name,
      kind: kindName(symbol.kind),
      container: within,
      path,
      line: from.start.line + 1,
      endLine: range.end.line + 1,
    });
    if (isTree) for (const child of symbol.children) add(child, within === undefined ? name : `${within}.${name}`);
  };
  for (const symbol of found ?? []) add(symbol, undefined);
  return symbols;
}

function kindName(kind: SymbolKind): string {
  return (SymbolKind[kind] ?? 'symbol').replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}

async function provided<T>(signal: AbortSignal, command: string, arg: unknown): Promise<T | undefined> {
  try {
    return await askEditor<T>(signal, command, arg);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
