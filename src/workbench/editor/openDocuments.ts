// Open VS Code documents of files on disk.
import { realpath } from 'node:fs/promises';
import * as vscode from 'vscode';

/** Also finds a document that was opened under another name of the file. */
export async function openDocument(path: string): Promise<vscode.TextDocument | undefined> {
  const open = openDocuments();
  const document = open.get(pathKey(path));
  if (document) return document;
  const real = await realKey(path);
  const target = open.get(real);
  if (target) return target;
  // A link may be open while its target is written.
  for (const [key, one] of open) if ((await realKey(one.uri.fsPath)) === real && key !== real) return one;
  return undefined;
}

async function realKey(path: string): Promise<string> {
  return pathKey(await realpath(path).catch(() => path));
}

export function openDocuments(): ReadonlyMap<string, vscode.TextDocument> {
  const open = new Map<string, vscode.TextDocument>();
  for (const document of vscode.workspace.textDocuments) {
    if (document.uri.scheme === 'file' && !document.isClosed) open.set(pathKey(document.uri.fsPath), document);
  }
  return open;
}

/** Returns files with unsaved changes in notebooks or custom editors, by {@link pathKey}. */
export function unsavedInOtherEditors(): ReadonlySet<string> {
  const unsaved = new Set<string>();
  for (const { isDirty, input } of vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs)) {
    const isOther = input instanceof vscode.TabInputNotebook || input instanceof vscode.TabInputCustom;
    if (isDirty && isOther && input.uri.scheme === 'file') unsaved.add(pathKey(input.uri.fsPath));
  }
  return unsaved;
}

/** Returns the same key for all spellings of a path that the system considers equal. */
export function pathKey(path: string): string {
  const spelled = vscode.Uri.file(path).fsPath;
  if (process.platform === 'win32') return spelled.toLowerCase();
  return process.platform === 'darwin' ? spelled.normalize('NFC').toLowerCase() : spelled;
}
