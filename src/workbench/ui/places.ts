// Terminals, file dialogs and comparisons of VS Code. The names that they get are made inert here.
import {
  commands,
  type ExtensionTerminalOptions,
  TabInputText,
  TabInputTextDiff,
  type Terminal,
  type TerminalOptions,
  type TextDocumentShowOptions,
  type Uri,
  window,
} from 'vscode';
import { inert } from './inertText';

/** Characters of a terminal's name: tabs of terminals do not cut. */
const MAX_NAME = 60;

/** Makes a terminal. @param name the first line of it is shown */
export function newTerminal(
  name: string,
  options: Omit<TerminalOptions, 'name'> | Omit<ExtensionTerminalOptions, 'name'>,
): Terminal {
  const [line = ''] = name.split('\n', 1);
  const short = line.length > MAX_NAME ? `${line.slice(0, MAX_NAME)}…` : line;
  return window.createTerminal({ ...options, name: inert(short) } as ExtensionTerminalOptions);
}

/** Asks for files of this machine. @returns none where the user went away */
export async function pickFiles(openLabel: string): Promise<readonly Uri[]> {
  return (await window.showOpenDialog({ canSelectMany: true, openLabel: inert(openLabel) })) ?? [];
}

/** Asks where to save a file. @returns undefined where the user went away */
export async function pickTarget(title: string, suggested: Uri): Promise<Uri | undefined> {
  return window.showSaveDialog({ defaultUri: suggested, title: inert(title) });
}

/** Opens two texts side by side. */
export async function showComparison(
  left: Uri,
  right: Uri,
  title: string,
  options: TextDocumentShowOptions,
): Promise<void> {
  await commands.executeCommand('vscode.diff', left, right, inert(title), options);
}

/** Closes the tabs that show a document, alone or as the right side of a comparison. */
export async function closeTabs(uri: Uri): Promise<void> {
  const shownIn = (input: unknown): Uri | undefined => {
    if (input instanceof TabInputText) return input.uri;
    return input instanceof TabInputTextDiff ? input.modified : undefined;
  };
  const tabs = window.tabGroups.all.flatMap((group) => group.tabs);
  await window.tabGroups.close(tabs.filter(({ input }) => shownIn(input)?.toString() === uri.toString()));
}

/** A file of a {@link showComparisons}: undefined sides are files that are not there. */
export interface ComparedFile {
  /** Names the file in the list; the path is shown. */
  readonly label: Uri;
  readonly left: Uri | undefined;
  readonly right: Uri | undefined;
}

/** Opens the comparisons of several files in one editor. */
export async function showComparisons(title: string, files: readonly ComparedFile[]): Promise<void> {
  const resources = files.map(({ label, left, right }) => [label, left, right]);
  await commands.executeCommand('vscode.changes', inert(title), resources);
}
