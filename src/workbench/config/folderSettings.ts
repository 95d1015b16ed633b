// Settings whose values would start programs: the user's value, and separately those of the
// workspace and its folders. VS Code would merge them key by key, so that a folder could change one
// variable of the user's own entry.
import { Uri, workspace } from 'vscode';

const SECTION = 'parley';

/** The value of a setting from a file of the workspace. */
export interface FolderValue {
  /** The file, for people. */
  readonly file: string;
  /** What it is called in ids: `workspace`, or the name of a folder. */
  readonly place: string;
  /** The folder that it belongs to; the first one for the workspace itself. */
  readonly folder: string;
  readonly value: unknown;
}

/** What the user has set, whole: on this machine, or for a remote window on that one. */
export function userValue(key: string): unknown {
  return workspace.getConfiguration(SECTION).inspect(key)?.globalValue;
}

/** What the workspace and its folders set; none while the workspace is not trusted. */
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
  // In a window with one folder its settings are those of the workspace.
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
