// Terminals, file dialogs and comparisons of VS Code. Their names are made inert here.
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

/** Terminal tabs don't truncate names. */
const MAX_NAME = 60;

export function newTerminal(
  name: string,
  options: Omit<TerminalOptions, 'name'> | Omit<ExtensionTerminalOptions, 'name'>,
): Terminal {
  const [line = ''] = name.split('\n', 1);
  const short = line.length > MAX_NAME ? `${line.slice(0, MAX_NAME)}…` : line;
  return window.createTerminal({ ...options, name: inert(short) } as ExtensionTerminalOptions);
}

export async function pickFiles(openLabel: string): Promise<readonly Uri[]> {
  return (await window.showOpenDialog({ canSelectMany: true, openLabel: inert(openLabel) })) ?? [];
}

export async function pickTarget(title: string, suggested: Uri): Promise<Uri | undefined> {
  return window.showSaveDialog({ defaultUri: suggested, title: inert(title) });
}

export async function showComparison(
  left: Uri,
  right: Uri,
  title: string,
  options: TextDocumentShowOptions,
): Promise<void> {
  await commands.executeCommand('vscode.diff', left, right, inert(title), options);
}

/** Also closes comparisons with the document on the right. */
export async function closeTabs(uri: Uri): Promise<void> {
  const shownIn = (input: unknown): Uri | undefined => {
    if (input instanceof TabInputText) return input.uri;
    return input instanceof TabInputTextDiff ? input.modified : undefined;
  };
  const tabs = window.tabGroups.all.flatMap((group) => group.tabs);
  await window.tabGroups.close(tabs.filter(({ input }) => shownIn(input)?.toString() === uri.toString()));
}

/** Undefined sides are missing files. */
export interface ComparedFile {
  readonly label: Uri;
  readonly left: Uri | undefined;
  readonly right: Uri | undefined;
}

export async function showComparisons(title: string, files: readonly ComparedFile[]): Promise<void> {
  const resources = files.map(({ label, left, right }) => [label, left, right]);
  await commands.executeCommand('vscode.changes', inert(title), resources);
}
