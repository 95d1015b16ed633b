// Comparisons of changed files. The right side is the file itself unless it was changed since.
import { basename, join } from 'node:path';
import { l10n, type Tab, TabInputText, type TextDocumentShowOptions, Uri, window } from 'vscode';
import type { FileChange, FileVersion, FolderStates } from '../../changes/model/fileChange';
import type { ReviewFile } from '../../changes/review/reviewFile';
import { columnBesideChat } from '../editor/openLocation';
import { inert } from '../ui/inertText';
import { type ComparedFile, showComparison, showComparisons } from '../ui/places';
import { readDiskFile } from './documents/diskFiles';
import { absentUri, versionUri } from './documents/versionDocuments';

const MAX_COMPARED = 2_000;

export function comparedReview(session: string, { root, path, oldPath, base, left }: ReviewFile): ComparedFile {
  const label = Uri.file(join(root, path));
  return {
    label,
    left: base && versionUri(join(root, oldPath ?? path), { session, root, version: base }),
    right: left && label,
  };
}

export function comparedChange(session: string, change: FileChange, isPresent: boolean): ComparedFile {
  const { root, path, oldPath, before, after } = change;
  const label = Uri.file(join(root, path));
  const version = (at: string, of: FileVersion): Uri => versionUri(join(root, at), { session, root, version: of });
  return {
    label,
    left: before && version(oldPath ?? path, before),
    right: after && (isPresent ? label : version(path, after)),
  };
}

export async function comparedChanges(
  session: string,
  changes: readonly FileChange[],
  states: FolderStates,
): Promise<readonly ComparedFile[]> {
  const compared: ComparedFile[] = [];
  for (const change of changes.slice(0, MAX_COMPARED))
    compared.push(comparedChange(session, change, await isPresent(change, states)));
  return compared;
}

async function isPresent({ root, path, after }: FileChange, states: FolderStates): Promise<boolean> {
  if (!after || after.isHashOnly) return false;
  const found = await readDiskFile(join(root, path)).catch(() => undefined);
  if (!found || found.content.length !== after.size) return false;
  const content = await states.read(root, after).catch(() => undefined);
  return content?.equals(found.content) === true;
}

const reviewTitles = new Map<string, Set<string>>();

/** Returns keys of the sessions with the active comparison's title. */
export function activeReviews(): readonly string[] {
  const label = window.tabGroups.activeTabGroup.activeTab?.label;
  // VS Code appends the number of files.
  const titles = [...reviewTitles.keys()].filter((title) => label?.startsWith(title));
  const [longest] = titles.sort((one, other) => other.length - one.length);
  return longest === undefined ? [] : [...(reviewTitles.get(longest) ?? [])];
}

export async function openReview(session: string, title: string, files: readonly ComparedFile[]): Promise<void> {
  const sessions = reviewTitles.get(inert(title)) ?? new Set();
  reviewTitles.set(inert(title), sessions.add(session));
  await openComparisons(title, files);
}

export async function openComparisons(title: string, files: readonly ComparedFile[]): Promise<void> {
  const [first] = files;
  if (!first) return;
  if (files.length > 1) {
    await showComparisons(title, files.slice(0, MAX_COMPARED));
    return;
  }
  await openComparison(first);
}

export async function openComparison({ label, left, right }: ComparedFile, title = titleOf(label)): Promise<void> {
  const options: TextDocumentShowOptions = { preview: true, viewColumn: columnBesideChat() };
  await showComparison(left ?? absentUri(label.fsPath), right ?? absentUri(label.fsPath), title, options);
}

export async function closeComparisons(title: string): Promise<void> {
  const tabs = window.tabGroups.all.flatMap((group) => group.tabs);
  const isOurs = ({ label, input }: Tab): boolean => label.startsWith(inert(title)) && !(input instanceof TabInputText);
  await window.tabGroups.close(tabs.filter(isOurs), true);
}

function titleOf(label: Uri): string {
  return l10n.t('{0} (changes of the agent)', basename(label.fsPath));
}
