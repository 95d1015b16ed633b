// What the rest of the product needs from the store that keeps the states of folders.
import type { Disposable } from '../../base/disposable';
import type { FileChange, FileVersion, Snapshot } from './fileChange';

/** Keeps states of the folders of one session, and the contents of their files. */
export interface FolderStates extends Disposable {
  /** Absolute, without duplicates. */
  readonly roots: readonly string[];
  /**
   * Reads the present state of all folders from the disk. Calls that come while one waits share it.
   * Never throws: what could not be read is in `gaps`.
   */
  take(signal?: AbortSignal): Promise<Snapshot>;
  /**
   * When the newest was changed of the files that were read: those that differed from what was known
   * of them. Milliseconds since 1970; 0 where there were none, or no git.
   */
  readonly newestRead: number;
  /**
   * What changed between two states, sorted by root and path, with renames.
   * @throws ParleyError `state-gone` where the store no longer has one of them
   */
  changes(before: Snapshot, after: Snapshot, signal?: AbortSignal): Promise<readonly FileChange[]>;
  /**
   * A state like one that was taken, with some files as they are in another.
   * @param files absolute paths; one that is not in `other` is not in the result
   * @throws ParleyError `state-gone`
   */
  replaced(snapshot: Snapshot, other: Snapshot, files: readonly string[]): Promise<Snapshot>;
  /**
   * The content of a version.
   * @throws ParleyError `state-gone`; `version-not-kept` where only its hash is known
   */
  read(root: string, version: FileVersion): Promise<Buffer>;
  /** Keeps a content for as long as states of the session are held. */
  write(root: string, content: Buffer, mode: FileVersion['mode']): Promise<FileVersion>;
  /** A file that a tool names, absolute: where there is no git, only such files are looked at. */
  name(path: string): void;
  /**
   * Holds a state for the session under a name, in place of the one before, until it is released. A
   * state that nothing holds may be gone a day after it was read.
   */
  hold(snapshot: Snapshot, name: string): Promise<void>;
  /** Releases the state of a name, or all that the session holds. */
  release(name?: string): Promise<void>;
  /** Ends what runs for it. What is held stays. */
  dispose(): void;
}

/** What the sessions of all windows hold, whether they are open or not. */
export interface StateRetention {
  /** Releases all that a deleted session held. */
  release(session: string): Promise<void>;
  /**
   * Releases what other sessions held, and makes the stores small. Where what is held takes more
   * than `maxBytes`, sessions are released from the end of the list; the disk is free within a day.
   * Never throws.
   * @param sessions keys of the sessions that there are, most recently used first
   */
  collect(sessions: readonly string[], maxBytes: number, signal?: AbortSignal): Promise<void>;
}
