// Settings that can start programs, separately by user, workspace and folder. VS Code would merge
// them key by key, so a folder could change one variable of the user's entry.
import { Uri, workspace } from 'vscode';

const SECTION = 'parley';

export interface FolderValue {
  readonly file: string;
  /** Part of ids: `workspace`, or the name of a folder. */
  readonly place: string;
  /** The first folder for the workspace itself. */
  readonly folder: string;
  readonly value: unknown;
}

/** Remote settings in a remote window. */
export function userValue(key: string): unknown {
  return workspace.getConfiguration(SECTION).inspect(key)?.globalValue;
}

/** Empty if the workspace isn't trusted. */
export function folderValues(key: string): readonly FolderValue[] {
  if (!workspace.isTrusted) return [];
  const { workspaceFile, workspaceFolders = [] } = workspace;
  const [first] = workspaceFolders;
  const found: FolderValue[] = [];
  const ofWorkspace = workspace.getConfiguration(SECTION).inspect(key)?.workspaceValue;
  if (ofWorkspace !== undefined && first) {
    const file = workspaceFile?.fsPath ?? settingsFile(first.uri);
    found.push({ file, place: 'workspace', folder: first.uri.fsPath, value: ofWorkspace });
  }
  // With a single folder, its settings are those of the workspace.
  if (!workspaceFile) return found;
  for (const { uri, name } of workspaceFolders) {
    const value = workspace.getConfiguration(SECTION, uri).inspect(key)?.workspaceFolderValue;
    if (value !== undefined) found.push({ file: settingsFile(uri), place: name, folder: uri.fsPath, value });
  }
  return found;
}

function settingsFile(folder: Uri): string {
  return Uri.joinPath(folder, '.vscode', 'settings.json').fsPath;
}
