// Opens a location named by an agent: only paths of existing files, never URLs.

import * as vscode from 'vscode';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { candidatePathsOf } from '../../client/requests/roots';

/** `path`: absolute, or relative to a root. `line`, `column`: 1-based. */
export interface FileLocation {
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
}

/**
 * Opens a file beside the chat, or reveals a folder.
 * @param roots for relative paths
 * @throws ParleyError `location-refused`, `location-not-found`
 */
export async function openLocation({ path, line, column }: FileLocation, roots: readonly string[] = []): Promise<void> {
  // A URL counts as a relative path, which does not exist.
  const places = candidatePathsOf(path, roots);
  if (path === '' || path.includes('\0') || (places.length === 0 && roots.length > 0))
    throw new ParleyError('location-refused', localizable("“{0}” isn't a file path.", path));
  const found = await firstExisting(places);
  if (!found) throw new ParleyError('location-not-found', localizable("{0} doesn't exist.", path));
  const { uri, type } = found;
  if (type & vscode.FileType.Directory) {
    await vscode.commands.executeCommand('revealInExplorer', uri);
    return;
  }
  if (!(type & vscode.FileType.File))
    throw new ParleyError('location-refused', localizable("{0} isn't a regular file.", path));
  const options: vscode.TextDocumentShowOptions = { preview: true, viewColumn: columnBesideChat() };
  if (line !== undefined && line > 0) {
    const at = new vscode.Position(Math.floor(line) - 1, Math.max(0, Math.floor(column ?? 1) - 1));
    options.selection = new vscode.Range(at, at);
  }
  await vscode.commands.executeCommand('vscode.open', uri, options);
}

export async function firstExisting(
  paths: readonly string[],
): Promise<{ readonly uri: vscode.Uri; readonly type: vscode.FileType } | undefined> {
  for (const path of paths) {
    const uri = vscode.Uri.file(path);
    try {
      return { uri, type: (await vscode.workspace.fs.stat(uri)).type };
    } catch {}
  }
  return undefined;
}

/** Returns a group without a webview, so that the file does not hide the chat. */
export function columnBesideChat(): vscode.ViewColumn {
  const { activeTabGroup, all } = vscode.window.tabGroups;
  const showsWebview = (group: vscode.TabGroup): boolean => group.activeTab?.input instanceof vscode.TabInputWebview;
  // By number, since the click in the chat may be about to activate the chat's group.
  if (!showsWebview(activeTabGroup)) return activeTabGroup.viewColumn;
  return all.find((group) => !showsWebview(group))?.viewColumn ?? vscode.ViewColumn.Beside;
}
