// Types of a review as the user sees it, and path checks.

import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isWindowsFilePath, plainParts } from '../../base/pathNames';
import type { FileChange, FileVersion, Snapshot } from '../model/fileChange';

export interface ReviewFile {
  readonly id: string;
  readonly root: string;
  readonly path: string;
  readonly oldPath?: string;
  /** The last kept version. Absent: no file. */
  readonly base?: FileVersion;
  /** As the agent left it, without later edits of the user. Absent: deleted. */
  readonly left?: FileVersion;
  readonly added: number;
  readonly removed: number;
  readonly isBinary?: true;
  /** `conflict`: an edit of the user blocked the last undo of a part of it. */
  readonly state: 'unreviewed' | 'conflict';
  /** The user saved the file during a turn, so its author is unknown. */
  readonly alsoYours?: true;
  /** Changed while the agent worked, but not named by it. */
  readonly isUnnamed?: true;
}

export type Settled = 'kept' | 'undone';

/** `start` counts from 0. */
export interface LineRange {
  readonly start: number;
  readonly count: number;
}

export interface ReviewHunk {
  /** Stable while other hunks of the file are kept and undone, and across restarts. */
  readonly id: string;
  readonly base: LineRange;
  readonly left: LineRange;
  /** Lines of the present file, including unsaved text. */
  readonly present: LineRange;
  /** The user changed the lines: the hunk can be kept, but not undone. */
  readonly isConflict?: true;
}

export type ReviewTarget =
  | { readonly kind: 'all' }
  | { readonly kind: 'file'; readonly id: string }
  | { readonly kind: 'hunk'; readonly id: string; readonly hunk: string }
  /** Changes of one turn, reviewed or not; `file` limits it to a path relative to a root. */
  | {
      readonly kind: 'turn';
      readonly turnId: string;
      readonly before: Snapshot;
      readonly after: Snapshot;
      readonly unnamed?: ReadonlySet<string>;
      readonly file?: { readonly root: string; readonly path: string };
    };

export interface ReviewProblem {
  readonly root: string;
  readonly path: string;
  readonly why:
    | 'edited'
    /** The user saved the file during a turn; it is only undone individually. */
    | 'yours'
    | 'unnamed'
    /** See `FileChange.wasThere`. */
    | 'was-there'
    | 'occupied'
    /** An earlier change of the same lines is unreviewed: they are kept together. */
    | 'entangled'
    | 'not-kept'
    | 'outside'
    | 'refused'
    | 'gone';
}

/** Files can be in several lists. */
export interface UndoResult {
  readonly undone: readonly { readonly root: string; readonly path: string }[];
  /** Edits of the user were not touched. */
  readonly conflicts: readonly ReviewProblem[];
  readonly failed: readonly ReviewProblem[];
}

export interface KeepResult {
  readonly kept: readonly { readonly root: string; readonly path: string }[];
  readonly failed: readonly ReviewProblem[];
}

export interface FinishedTurn {
  readonly turnId: string;
  readonly before: Snapshot;
  readonly after: Snapshot;
  readonly changes: readonly FileChange[];
  /** Absolute paths that the user saved, or had unsaved text in, during the turn. */
  readonly yours: ReadonlySet<string>;
  readonly unnamed?: ReadonlySet<string>;
}

/**
 * Rejects paths through links, which git's stores don't have, and anything in `.git`, in any
 * spelling. The file itself and `root` may be links.
 */
export async function isSafePath(root: string, path: string): Promise<boolean> {
  if (!isPlainPath(path)) return false;
  const parts = path.split('/');
  let folder = root;
  for (const part of parts.slice(0, -1)) {
    folder = join(folder, part);
    const found = await lstat(folder).catch((error: NodeJS.ErrnoException) => error.code ?? 'EIO');
    if (typeof found === 'string') return ['ENOENT', 'ENOTDIR'].includes(found);
    if (found.isSymbolicLink()) return false;
  }
  return true;
}

export function isPlainPath(path: string): boolean {
  if (path === '' || path.includes('\0')) return false;
  if (process.platform === 'win32' && (/[\\:]/.test(path) || !isWindowsFilePath(path))) return false;
  if (path.split('/').some((part) => part === '' || part === '.' || part === '..')) return false;
  if (/^[ -~]*$/.test(path) && !/git/i.test(path)) return true;
  return !plainParts(path).some((part) => part === '.git' || /^git~\d+$/.test(part));
}
