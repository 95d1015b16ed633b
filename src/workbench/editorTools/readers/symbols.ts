// Symbols by name, and those of a file, as the language servers know them.

import { type DocumentSymbol, type SymbolInformation, SymbolKind, Uri } from 'vscode';
import { isBelow } from '../../../client/requests/roots';
import { askEditor } from '../askEditor';

export interface FoundSymbol {
  readonly name: string;
  readonly kind: string;
  readonly container?: string;
  /** Absolute. */
  readonly path: string;
  /** 1-based: where the name stands, and the last line of the symbol. */
  readonly line: number;
  readonly endLine: number;
}

/**
 * Returns at most `most` symbols below the folders; none if the servers fail.
 * @throws the reason of `signal`
 */
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

/**
 * Returns the symbols of a file in order; none if the servers fail.
 * @throws the reason of `signal`
 */
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
