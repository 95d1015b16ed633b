// Compares the diffs in tool calls with the contents of the files afterwards.
import { isAbsolute, normalize } from 'node:path';
import type { FileChange, FileVersion, FolderStates } from '../../changes/model/fileChange';
import type { ToolContent } from '../../session/events/content';
import type { WrittenDifferently } from '../../session/events/event';
import type { ToolEntry } from '../../session/model/state';
import { plainText as plain } from '../requests/lineEnds';
import { pathOf } from './changedPaths';

const MAX_BYTES = 2 * 1024 * 1024;
const MAX_FILES = 200;

type Diff = Extract<ToolContent, { type: 'diff' }>;

interface PendingDiff {
  readonly toolCallId: string;
  readonly diff: Diff;
  readonly isOnly: boolean;
}

export class ShownDiffs {
  readonly #pending = new Map<string, PendingDiff>();
  readonly #seenPaths = new Set<string>();
  readonly found: WrittenDifferently[] = [];

  addDiffsOf({ toolCallId, content }: Pick<ToolEntry, 'toolCallId' | 'content'>): void {
    for (const part of content) {
      if (part.type !== 'diff' || part.hunks || !isAbsolute(part.path)) continue;
      const path = normalize(part.path);
      if (this.#pending.size >= MAX_FILES && !this.#pending.has(path)) return;
      this.#pending.set(path, { toolCallId, diff: part, isOnly: !this.#seenPaths.has(path) });
      this.#seenPaths.add(path);
    }
  }

  /** @returns new entries of {@link found} */
  async compare(
    states: Pick<FolderStates, 'read'>,
    files: readonly FileChange[],
    isOpen: (path: string) => boolean,
  ): Promise<readonly WrittenDifferently[]> {
    const news: WrittenDifferently[] = [];
    for (const change of files) {
      const path = pathOf(change);
      const pending = this.#pending.get(path);
      if (!pending || isOpen(path)) continue;
      this.#pending.delete(path);
      const [before, written] = [
        await textOf(states, change, change.before),
        await textOf(states, change, change.after),
      ];
      const { toolCallId, diff, isOnly } = pending;
      if (written === undefined || matchesDiff(diff, isOnly ? before : undefined, written)) continue;
      news.push({ toolCallId, path: diff.path });
    }
    // A file without changes is as it was, or was not read.
    for (const [path] of this.#pending) if (!isOpen(path)) this.#pending.delete(path);
    this.found.push(...news.slice(0, MAX_FILES - this.found.length));
    return news;
  }
}

/** @param before undefined if unknown */
export function textAfter({ oldText, newText }: Pick<Diff, 'oldText' | 'newText'>, before: string | undefined): string {
  const [old, shown] = [plain(oldText ?? ''), plain(newText)];
  if (oldText === undefined || before === undefined || old === '') return shown;
  const from = plain(before);
  const at = from.indexOf(old);
  return at === -1 ? shown : `${from.slice(0, at)}${shown}${from.slice(at + old.length)}`;
}

/** Returns '' if there is no file; undefined if it is binary or too large. */
export async function textOf(
  states: Pick<FolderStates, 'read'>,
  { root }: Pick<FileChange, 'root'>,
  version: FileVersion | undefined,
): Promise<string | undefined> {
  if (!version) return '';
  if (version.isHashOnly || version.size > MAX_BYTES || version.mode === '120000') return undefined;
  const content = await states.read(root, version);
  return content.includes(0) ? undefined : content.toString('utf8');
}

function matchesDiff(diff: Diff, before: string | undefined, written: string): boolean {
  const text = withoutLastLineBreak(plain(written));
  const newText = withoutLastLineBreak(plain(diff.newText));
  if (text === newText) return true;
  if (diff.oldText === undefined) return false;
  if (before === undefined || plain(before).split(plain(diff.oldText)).length > 2) return text.includes(newText);
  return text === withoutLastLineBreak(textAfter(diff, before));
}

function withoutLastLineBreak(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}
