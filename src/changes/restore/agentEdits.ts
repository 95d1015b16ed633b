// Tells files that only the agent changed from those that the user edited too. Pure.
import { join } from 'node:path';
import type { FileChange, FileVersion } from '../model/fileChange';
import type { ReviewFile } from '../review/reviewFile';
import { fileId, isSameVersion } from '../review/waitingFiles';

interface AgentFile {
  /** As the last turn left it; undefined: deleted. */
  left: FileVersion | undefined;
  /** Versions in which nothing is the user's. */
  readonly versions: (FileVersion | undefined)[];
  /** The user edited it between or during turns. */
  isYours: boolean;
}

/** What turns changed, from the one that is gone back to up to the last. */
export class AgentEdits {
  readonly #files = new Map<string, AgentFile>();

  /**
   * Adds what a turn changed; call it for each turn, in their order.
   * @param yours absolute paths of files that the user saved while the turn ran
   */
  add(changes: readonly FileChange[], yours: ReadonlySet<string> = new Set()): this {
    for (const { root, path, oldPath, before, after } of changes) {
      const from = oldPath ?? path;
      const old = this.#file(root, from, before);
      const isYours = !isSameVersion(old.left, before) || yours.has(join(root, path)) || yours.has(join(root, from));
      if (isYours) old.isYours = true;
      if (oldPath !== undefined) {
        const fresh = this.#file(root, path, undefined);
        fresh.isYours ||= old.isYours || fresh.left !== undefined;
        leave(fresh, after);
        leave(old, undefined);
      } else leave(old, after);
    }
    return this;
  }

  /** Adds what waits for review: what the user undid a part of, and what the user saved too. */
  addReview(files: readonly ReviewFile[]): this {
    for (const { root, path, left, alsoYours } of files) {
      const file = this.#files.get(fileId(root, path));
      file?.versions.push(left);
      if (file && alsoYours) file.isYours = true;
    }
    return this;
  }

  /** Returns whether a version of a file has edits of the user, as far as is known. */
  isEdited(root: string, path: string, now: FileVersion | undefined): boolean {
    const file = this.#files.get(fileId(root, path));
    return !file || file.isYours || !file.versions.some((one) => isSameVersion(one, now));
  }

  #file(root: string, path: string, before: FileVersion | undefined): AgentFile {
    const id = fileId(root, path);
    const known = this.#files.get(id);
    if (known) return known;
    const file: AgentFile = { left: before, versions: [before], isYours: false };
    this.#files.set(id, file);
    return file;
  }
}

function leave(file: AgentFile, left: FileVersion | undefined): void {
  file.left = left;
  file.versions.push(left);
}
