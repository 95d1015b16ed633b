// Restricts paths to the session's folders, with links resolved.

import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { mapConcurrently } from '../../base/keyedQueue';
import { isWindowsFilePath } from '../../base/pathNames';
import { succeeds } from '../../base/within';
import { isBelow, isInsideRoots, realTarget } from '../../client/requests/roots';

const MAX_CONCURRENT_LOOKUPS = 16;

export class SessionPaths {
  readonly roots: readonly string[];

  constructor(roots: readonly string[]) {
    this.roots = roots;
  }

  /** @throws Error with a sentence for the model */
  async resolve(path: string): Promise<string> {
    if (path.includes('\0') || (process.platform === 'win32' && !isWindowsFilePath(path)))
      throw new Error('This is not a path of a file.');
    const candidates = isAbsolute(path)
      ? [await this.#toEditorSpelling(resolve(path))]
      : this.roots.map((root) => resolve(root, path));
    for (const candidate of candidates) {
      if (!(await this.isInside(candidate))) continue;
      if (await succeeds(stat(candidate))) return candidate;
    }
    const [first] = candidates;
    if (first !== undefined && (await this.isInside(first))) throw new Error(`${path} does not exist.`);
    throw new Error(`${path} is outside of the session's folders.`);
  }

  async isInside(path: string): Promise<boolean> {
    if (!this.holds(path)) return false;
    return realTarget(path).then(
      (target) => isInsideRoots(target, this.roots),
      () => false,
    );
  }

  holds(path: string): boolean {
    return this.roots.some((root) => isBelow(root, path));
  }

  async inside(paths: Iterable<string>, signal?: AbortSignal): Promise<ReadonlySet<string>> {
    const all = [...new Set(paths)];
    const inside = await mapConcurrently(all, MAX_CONCURRENT_LOOKUPS, (path) => {
      signal?.throwIfAborted();
      return this.isInside(path);
    });
    return new Set(all.filter((_path, index) => inside[index]));
  }

  /** Returns a path as shown to the agent: relative to the first folder, absolute in others. */
  show(path: string): string {
    const [root = ''] = this.roots;
    const shown = isBelow(root, path) ? relative(root, path) || '.' : path;
    return sep === '/' ? shown : shown.replaceAll(sep, '/');
  }

  /** Agents resolve links to their folder, the editor does not. */
  async #toEditorSpelling(path: string): Promise<string> {
    if (this.holds(path)) return path;
    for (const root of this.roots) {
      const real = await realpath(root).catch(() => undefined);
      if (real !== undefined && isBelow(real, path)) return join(root, relative(real, path));
    }
    return path;
  }
}
