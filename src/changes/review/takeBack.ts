// Computes how to revert a change of one file in the present file.
import { join } from 'node:path';
import type { LineHunk } from '../../base/lineHunks';
import { compareLines, inverted } from '../lines/hunks';
import { placeHunks, withHunks } from '../lines/placeHunks';
import type { FileEdit, FileVersion, WorkingFile } from '../model/fileChange';
import { areFiles, type FileTexts } from './fileTexts';
import type { ReviewProblem } from './reviewFile';

export interface Change {
  readonly root: string;
  readonly path: string;
  readonly oldPath?: string;
  readonly before?: FileVersion | undefined;
  readonly after?: FileVersion | undefined;
}

/** Hunks from before to after, in order; absent: the whole change. */
export interface Part {
  readonly hunks?: readonly LineHunk[];
}

/** The present files, with pending edits applied. */
export interface Present {
  read(path: string): Promise<WorkingFile | undefined>;
}

export interface Reversal {
  /** Empty if already reverted. */
  readonly edits: readonly FileEdit[];
  /** The reverted hunks; undefined: the whole file. */
  readonly hunks: readonly LineHunk[] | undefined;
  /** Mode and path are reverted too. */
  readonly isWhole: boolean;
  readonly problem?: ReviewProblem['why'];
}

/**
 * Touches no edit of the user: hunks with edited lines are skipped, and so is a file without
 * comparable lines unless it is as the agent left it.
 * @throws ParleyError `state-gone`, `version-not-kept`; errors of reading the file
 */
export async function revertChange(texts: FileTexts, change: Change, part: Part, present: Present): Promise<Reversal> {
  const { root, path, oldPath, before, after } = change;
  const at = join(root, path);
  const home = join(root, oldPath ?? path);
  const now = await present.read(at);
  if (!areFiles(before, after)) return revertWholeFile(texts, change, present);
  const [old, left] = [await texts.lines(before), await texts.lines(after)];
  if (!old || !left) return revertWholeFile(texts, change, present);
  if (home !== at && part.hunks === undefined && !now && (await isVersion(texts, await present.read(home), before))) {
    return { edits: [], hunks: undefined, isWhole: true };
  }
  const presentLines = now && now.mode !== '120000' ? await texts.linesOf(now.content) : undefined;
  if (!now || !presentLines) return blockedBy('edited');
  const hunksToRevert = part.hunks ?? (await compareLines(old, left, texts.slices));
  const others = await compareLines(left, presentLines, texts.slices);
  const fork = { edited: old, other: presentLines };
  const { placed, edits, applied, blocked } = await placeHunks(inverted(hunksToRevert), others, fork, texts.slices);
  const content = await withHunks(presentLines, old, placed, texts.slices);
  const hunks = inverted([...edits, ...applied].sort((one, two) => one.aStart - two.aStart));
  if (part.hunks || blocked.length > 0) {
    const changed = placed.length > 0 ? [{ path: at, root, expected: now.content, content }] : [];
    return { edits: changed, hunks, isWhole: false, problem: blocked.length > 0 ? ('edited' as const) : undefined };
  }
  const mode = now.mode === after!.mode ? before!.mode : now.mode;
  if (home !== at) {
    if (await present.read(home)) return blockedBy('occupied');
    return {
      edits: [
        { path: at, root, expected: now.content },
        { path: home, root, expected: undefined, content, mode },
      ],
      hunks,
      isWhole: true,
    };
  }
  const isChanged = placed.length > 0 || mode !== now.mode;
  return {
    edits: isChanged ? [{ path: at, root, expected: now.content, content, mode }] : [],
    hunks,
    isWhole: true,
  };
}

/** Without comparable lines: only if the file is as the agent left it. */
async function revertWholeFile(texts: FileTexts, change: Change, present: Present): Promise<Reversal> {
  const { root, path, oldPath, before, after } = change;
  const at = join(root, path);
  const home = join(root, oldPath ?? path);
  const wholeReversal: Reversal = { edits: [], hunks: undefined, isWhole: true };
  const now = await present.read(at);
  if (home !== at) {
    const there = await present.read(home);
    if (!now && (await isVersion(texts, there, before))) return wholeReversal;
    if (there) return blockedBy('occupied');
  } else if (await isVersion(texts, now, before)) return wholeReversal;
  if (!(await isVersion(texts, now, after))) return blockedBy('edited');
  const content = before && (await texts.bytes(before));
  const back: FileEdit = {
    path: home,
    root,
    expected: home === at ? now?.content : undefined,
    ...(before && content && { content, mode: before.mode }),
  };
  return { ...wholeReversal, edits: home === at ? [back] : [{ path: at, root, expected: now?.content }, back] };
}

async function isVersion(
  texts: FileTexts,
  file: WorkingFile | undefined,
  version: FileVersion | undefined,
): Promise<boolean> {
  if (!file || !version) return file === undefined && version === undefined;
  if (file.mode !== version.mode || file.content.length !== version.size) return false;
  return file.content.equals(await texts.bytes(version));
}

function blockedBy(problem: ReviewProblem['why']): Reversal {
  return { edits: [], hunks: [], isWhole: false, problem };
}

/** What a reversal did to the file with the user's edits; reverting it restores the same bytes. */
export async function changeOfReversal(
  texts: FileTexts,
  { root, path, oldPath, before, after }: Change,
  { edits, isWhole }: Reversal,
): Promise<Change> {
  const home = isWhole ? (oldPath ?? path) : path;
  const [from, to] = [path, home].map((filePath) => edits.find((edit) => edit.path === join(root, filePath)));
  const made = to?.mode ?? after?.mode ?? '100644';
  const isModeMade = made === before?.mode && after !== undefined;
  const old = from?.expected && (await texts.keep(from.expected, isModeMade ? after.mode : made, after));
  const left = to?.content && (await texts.keep(to.content, made, before));
  return { root, path: home, ...(home !== path && { oldPath: path }), before: old, after: left };
}

/** As far as the version has the hunks. */
export async function revertedVersion(
  texts: FileTexts,
  version: FileVersion | undefined,
  { before, after }: Change,
  { hunks, isWhole }: Pick<Reversal, 'hunks' | 'isWhole'>,
): Promise<FileVersion | undefined> {
  if (isWhole && version?.oid === after?.oid && version?.mode === after?.mode) return before;
  if (!hunks || !version || !areFiles(before, after)) return version;
  const other = await texts.comparable(version);
  const [old, left] = [await texts.lines(before), await texts.lines(after)];
  if (!other || !old || !left) return version;
  const others = await compareLines(left, other, texts.slices);
  const { placed } = await placeHunks(inverted(hunks), others, { edited: old, other }, texts.slices);
  const mode = isWhole && version.mode === after!.mode ? before!.mode : version.mode;
  return texts.keep(await withHunks(other, old, placed, texts.slices), mode, before);
}
