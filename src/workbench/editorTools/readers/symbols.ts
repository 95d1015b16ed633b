// Symbols by name, and those of a file, as the language servers know them.

import { commands, type DocumentSymbol, type SymbolInformation, SymbolKind, Uri } from 'vscode';
import { isBelow } from '../../../client/requests/roots';

export interface FoundSymbol {
  readonly name: string;
  /** An English word in lower case, such as "function". */
  readonly kind: string;
  readonly container?: string;
  /** Absolute. */
  readonly path: string;
  /** 1-based: where the name stands, and the last line of the symbol. */
  readonly line: number;
  readonly endLine: number;
}

/** A server may hang; in milliseconds. */
const PATIENCE_MS = 10_000;

/** Returns symbols of the workspace below the folders, at most `most`. Never rejects. */
export async function symbolsNamed(query: string, roots: readonly string[], most: number): Promise<FoundSymbol[]> {
  const found = await provided<SymbolInformation[]>('vscode.executeWorkspaceSymbolProvider', query);
  const symbols: FoundSymbol[] = [];
  for (const { name, kind, containerName, location } of found ?? []) {
    const { uri, range } = location;
    if (uri.scheme !== 'file' || !roots.some((root) => isBelow(root, uri.fsPath))) continue;
    symbols.push({
      name,
      kind: kindName(kind),
      ...(containerName && { container: containerName }),
      path: uri.fsPath,
      line: range.start.line + 1,
      endLine: range.end.line + 1,
    });
    if (symbols.length === most) break;
  }
  return symbols;
}

/** Returns the symbols of a file in their order, those inside of others after them. Never rejects. */
export async function symbolsOf(path: string): Promise<FoundSymbol[]> {
  const found = await provided<(DocumentSymbol | SymbolInformation)[]>(
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
      ...(within !== undefined && { container: within }),
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

/** Asks the language servers; undefined where they fail or do not answer. */
async function provided<T>(command: string, ...args: readonly unknown[]): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
  });
  try {
    return await Promise.race([commands.executeCommand<T>(command, ...args), late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
