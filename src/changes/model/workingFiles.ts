// What review and restore need of the files that the user sees. The workbench implements it over
// VS Code's documents; plain Node implements it over the disk.
import type { FileVersion } from './fileChange';

/** A file as the user sees it. */
export interface WorkingFile {
  /** What is or would be on disk: the text of an unsaved document before the disk. */
  readonly content: Buffer;
  readonly mode: FileVersion['mode'];
  /** An editor holds unsaved changes. */
  readonly isDirty: boolean;
}

/** A file as it should be. */
export interface FileEdit {
  /** Absolute. */
  readonly path: string;
  /** The folder that the file belongs to, absolute: the edit is refused if a link leads out of it. */
  readonly root: string;
  /** The file is refused if its content is no longer this; undefined: if it exists. */
  readonly expected: Buffer | undefined;
  /** Absent: delete it. */
  readonly content?: Buffer;
  readonly mode?: FileVersion['mode'];
}

/** Reads and changes the files of the user. Paths are absolute. */
export interface WorkingFiles {
  /** @returns undefined where there is no file; a folder is none */
  read(path: string): Promise<WorkingFile | undefined>;
  /**
   * Makes all edits as one step that the editor's Undo takes back, and saves what was saved before.
   * Files are deleted before others are written, with the folders that are empty then. Where a link
   * is, the link is replaced, not its target.
   * @param label names the step
   * @returns the paths that were refused, as they had changed meanwhile or could not be written
   */
  apply(edits: readonly FileEdit[], label: string): Promise<readonly string[]>;
}
