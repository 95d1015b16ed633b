// Works out how a change of one file is taken back in the file as it is now.
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

export interface TakingBack {
  /** Empty if already taken back. */
  readonly edits: readonly FileEdit[];
  /** The hunks that this takes back; undefined: the whole file. */
  readonly hunks: readonly LineHunk[] | undefined;
  /** Mode and path are taken back too. */
  readonly isWhole: boolean;
  readonly problem?: ReviewProblem['why'];
}

/**
 * Computes the edits that take a change back. They touch nothing that the user edited: parts with
 * edited lines are left, and so is a file without lines to compare that is not as the agent left
 * it.
 * @throws ParleyError `state-gone`, `version-not-kept`; errors of reading the file
 */
export async function takeBack(texts: FileTexts, change: Change, part: Part, present: Present): Promise<TakingBack> {
  const { root, path, oldPath, before, after } = change;
  const at = join(root, path);
  const home = join(root, oldPath ?? path);
  const now = await present.read(at);
  if (!areFiles(before, after)) return takeBackWhole(texts, change, present);
  const [old, left] = [await texts.lines(before), await texts.lines(after)];
  if (!old || !left) return takeBackWhole(texts, change, present);
  if (home !== at && part.hunks === undefined && !now && (await isVersion(texts, await present.read(home), before))) {
    return { edits: [], hunks: undefined, isWhole: true };
  }
  const today = now && now.mode !== '120000' ? await texts.linesOf(now.content) : undefined;
  if (!now || !today) return nothing('edited');
  const chosen = part.hunks ?? (await compareLines(old, left, texts.slices));
  const others = await compareLines(left, today, texts.slices);
  const fork = { edited: old, other: today };
  const { placed, edits, known, blocked } = await placeHunks(inverted(chosen), others, fork, texts.slices);
  const content = await withHunks(today, old, placed, texts.slices);
  const hunks = inverted([...edits, ...known].sort((one, two) => one.aStart - two.aStart));
  if (part.hunks || blocked.length > 0) {
    const changed = placed.length > 0 ? [{ path: at, root, expected: now.content, content }] : [];
    return { edits: changed, hunks, isWhole: false, problem: blocked.length > 0 ? ('edited' as const) : undefined };
  }
  const mode = now.mode === after!.mode ? before!.mode : now.mode;
  if (home !== at) {
    if (await present.read(home)) return nothing('occupied');
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

/** Without lines to compare: only if the file is as it was left. */
async function takeBackWhole(texts: FileTexts, change: Change, present: Present): Promise<TakingBack> {
  const { root, path, oldPath, before, after } = change;
  const at = join(root, path);
  const home = join(root, oldPath ?? path);
  const done: TakingBack = { edits: [], hunks: undefined, isWhole: true };
  const now = await present.read(at);
  if (home !== at) {
    const there = await present.read(home);
    if (!now && (await isVersion(texts, there, before))) return done;
    if (there) return nothing('occupied');
  } else if (await isVersion(texts, now, before)) return done;
  if (!(await isVersion(texts, now, after))) return nothing('edited');
  const content = before && (await texts.bytes(before));
  const back: FileEdit = {
    path: home,
    root,
    expected: home === at ? now?.content : undefined,
    ...(before && content && { content, mode: before.mode }),
  };
  return { ...done, edits: home === at ? [back] : [{ path: at, root, expected: now?.content }, back] };
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

function nothing(problem: ReviewProblem['why']): TakingBack {
  return { edits: [], hunks: [], isWhole: false, problem };
}

/**
 * Returns what taking a change back did to the file as it was, with what the user wrote there: to
 * take that back gives the same bytes again.
 */
export async function changeBy(
  texts: FileTexts,
  { root, path, oldPath, before, after }: Change,
  { edits, isWhole }: TakingBack,
): Promise<Change> {
  const home = isWhole ? (oldPath ?? path) : path;
  const [from, to] = [path, home].map((place) => edits.find((edit) => edit.path === join(root, place)));
  const made = to?.mode ?? after?.mode ?? '100644';
  const isModeMade = made === before?.mode && after !== undefined;
  const old = from?.expected && (await texts.keep(from.expected, isModeMade ? after.mode : made, after));
  const left = to?.content && (await texts.keep(to.content, made, before));
  return { root, path: home, ...(home !== path && { oldPath: path }), before: old, after: left };
}

/** Takes the same out of another version of the file, as far as it has it. */
export async function alsoTakenBack(
  texts: FileTexts,
  version: FileVersion | undefined,
  { before, after }: Change,
  { hunks, isWhole }: Pick<TakingBack, 'hunks' | 'isWhole'>,
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
