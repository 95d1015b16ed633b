// What the user sees of a review, and asks of it.
import type { FileChange, FileVersion, Snapshot } from '../model/fileChange';

/** A file that waits for review: what the agent left is not what was last kept. */
export interface ReviewFile {
  /** Identifies the file in the review. */
  readonly id: string;
  /** Absolute path of the folder that the paths are relative to. */
  readonly root: string;
  /** With forward slashes. */
  readonly path: string;
  /** Where the kept version is, if the agent renamed the file. */
  readonly oldPath?: string;
  /** The version that was last kept. Absent: there was no file. */
  readonly base?: FileVersion;
  /** The version as the agent left it, without edits of the user since. Absent: it is deleted. */
  readonly left?: FileVersion;
  /** Lines; 0 where `isBinary`. */
  readonly added: number;
  readonly removed: number;
  readonly isBinary?: true;
  /** `conflict`: an edit of the user prevented the last undo of a part of it. */
  readonly state: 'unreviewed' | 'conflict';
  /** The user saved the file while a turn ran: what is whose is not known. */
  readonly alsoYours?: true;
  /** It was changed while the agent worked, and nothing that the agent did named it. */
  readonly isUnnamed?: true;
}

/** Lines of a file: `start` counts from 0. */
export interface LineRange {
  readonly start: number;
  readonly count: number;
}

/** A change of lines that waits for review. */
export interface ReviewHunk {
  /** Stays the same while other hunks of the file are kept and undone, and across restarts. */
  readonly id: string;
  /** Lines of the kept version. */
  readonly base: LineRange;
  /** Lines of the version as the agent left it. */
  readonly left: LineRange;
  /** Lines of the present file, unsaved text included. */
  readonly present: LineRange;
  /** The user changed the lines: the hunk can be kept, and not undone. */
  readonly isConflict?: true;
}

/** What is kept or undone. */
export type ReviewTarget =
  | { readonly kind: 'all' }
  /** `id` of a {@link ReviewFile}. */
  | { readonly kind: 'file'; readonly id: string }
  /** `hunk`: `id` of a {@link ReviewHunk}. */
  | { readonly kind: 'hunk'; readonly id: string; readonly hunk: string }
  /** What one turn changed, whether it waits or was kept. `file`: only there, relative to a root. */
  | {
      readonly kind: 'turn';
      readonly turnId: string;
      readonly before: Snapshot;
      readonly after: Snapshot;
      /** As that of {@link FinishedTurn}. */
      readonly unnamed?: ReadonlySet<string>;
      readonly file?: { readonly root: string; readonly path: string };
    };

/** A file that could not be kept or undone as a whole. */
export interface ReviewProblem {
  readonly root: string;
  readonly path: string;
  readonly why: /** The user edited the lines, or the file where it has no lines to compare. */
    | 'edited'
    /** The user saved the file while a turn ran; it is undone only by itself. */
    | 'yours'
    /** It was changed while the agent worked, and nothing that the agent did named it. */
    | 'unnamed'
    /** It may have been there before the turn: see `FileChange.wasThere`. */
    | 'was-there'
    /** Another file is where the file was before it was renamed. */
    | 'occupied'
    /** Another change of the same lines waits and comes before it: they are kept together. */
    | 'entangled'
    /** The store has only the hash of a version, or has it no longer. */
    | 'not-kept'
    /** The path leads out of the folder, through a link, or into `.git`. */
    | 'outside'
    /** It could not be read or written, or changed meanwhile. */
    | 'refused'
    /** The file or hunk no longer waits. */
    | 'gone';
}

/** What came of an undo. Files can be in several lists. */
export interface UndoResult {
  /** Files of which a part or all was undone. */
  readonly undone: readonly { readonly root: string; readonly path: string }[];
  /** Nothing was forced: what the user edited is as it was. */
  readonly conflicts: readonly ReviewProblem[];
  readonly failed: readonly ReviewProblem[];
}

/** What came of a keep. */
export interface KeepResult {
  readonly kept: readonly { readonly root: string; readonly path: string }[];
  readonly failed: readonly ReviewProblem[];
}

/** A finished turn. */
export interface FinishedTurn {
  readonly turnId: string;
  readonly before: Snapshot;
  readonly after: Snapshot;
  /** From `before` to `after`, as the store gives them. */
  readonly changes: readonly FileChange[];
  /** Absolute paths of files that the user saved, or had unsaved text in, while the turn ran. */
  readonly yours: ReadonlySet<string>;
  /** Absolute paths of files that nothing named that the agent did; absent: there are none. */
  readonly unnamed?: ReadonlySet<string>;
}
