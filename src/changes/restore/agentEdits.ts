// Distinguishes files that only the agent changed from those with other authors. Pure.
import { join } from 'node:path';
import type { FileChange, FileVersion } from '../model/fileChange';
import type { ReviewFile } from '../review/reviewFile';
import { fileId, isSameVersion } from '../review/waitingFiles';

/** `unnamed`: changed while the agent worked, but not named by it. */
export type Owner = 'agent' | 'user' | 'unnamed';

interface AgentFile {
  /** Before the first turn that changed it. */
  readonly first: FileVersion | undefined;
  origin?: AgentFile;
  readonly id: string;
  left: FileVersion | undefined;
  /** Versions without edits of the user. */
  readonly versions: (FileVersion | undefined)[];
  isYours: boolean;
  isUnnamed: boolean;
}

export class AgentEdits {
  readonly #files = new Map<string, AgentFile>();

  /**
   * Call for each turn, in order.
   * @param yours absolute paths that the user saved during the turn
   * @param unnamed absolute paths that the agent did not name
   */
  add(
    changes: readonly FileChange[],
    yours: ReadonlySet<string> = new Set(),
    unnamed: ReadonlySet<string> = new Set(),
  ): this {
    for (const { root, path, oldPath, before, after, wasThere } of changes) {
      const from = oldPath ?? path;
      const isIn = (paths: ReadonlySet<string>): boolean => paths.has(join(root, path)) || paths.has(join(root, from));
      const old = this.#file(root, from, before);
      if (!isSameVersion(old.left, before) || isIn(yours) || (wasThere && !before)) old.isYours = true;
      if (isIn(unnamed)) old.isUnnamed = true;
      if (oldPath !== undefined) {
        const fresh = this.#file(root, path, undefined);
        fresh.isYours ||= old.isYours || fresh.left !== undefined;
        fresh.isUnnamed ||= old.isUnnamed;
        if (fresh !== old) fresh.origin = old;
        addLeftVersion(fresh, after);
        addLeftVersion(old, undefined);
      } else addLeftVersion(old, after);
    }
    return this;
  }

  addReview(files: readonly ReviewFile[]): this {
    for (const { root, path, left, alsoYours } of files) {
      const file = this.#files.get(fileId(root, path));
      file?.versions.push(left);
      if (file && alsoYours) file.isYours = true;
    }
    return this;
  }

  /**
   * @param target versions in the target of the files that differ, by {@link fileId}: if the first
   * turn found another one, the user had edited the file before
   */
  ownerOf(
    root: string,
    path: string,
    now: FileVersion | undefined,
    target: ReadonlyMap<string, FileVersion | undefined>,
  ): Owner {
    const file = this.#files.get(fileId(root, path));
    if (!file?.versions.some((one) => isSameVersion(one, now))) return 'user';
    for (const one of withOrigins(file)) {
      // Files that don't differ are as the agent left them.
      const there = target.has(one.id) ? target.get(one.id) : one.left;
      if (one.isYours || !isSameVersion(one.first, there)) return 'user';
    }
    return file.isUnnamed ? 'unnamed' : 'agent';
  }

  isRenamed(root: string, one: string, other: string): boolean {
    const [a, b] = [one, other].map((path) => this.#files.get(fileId(root, path)));
    return a !== undefined && b !== undefined && (withOrigins(a).has(b) || withOrigins(b).has(a));
  }

  #file(root: string, path: string, before: FileVersion | undefined): AgentFile {
    const id = fileId(root, path);
    const existing = this.#files.get(id);
    if (existing) return existing;
    const file = { id, first: before, left: before, versions: [before], isYours: false, isUnnamed: false };
    this.#files.set(id, file);
    return file;
  }
}

function addLeftVersion(file: AgentFile, left: FileVersion | undefined): void {
  file.left = left;
  file.versions.push(left);
}

function withOrigins(file: AgentFile): ReadonlySet<AgentFile> {
  const all = new Set<AgentFile>();
  for (let one: AgentFile | undefined = file; one && !all.has(one); one = one.origin) all.add(one);
  return all;
}
