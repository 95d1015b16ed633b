// Opens the states of a session's folders.
import { createHash } from 'node:crypto';
import { isAbsolute, join, relative, sep } from 'node:path';
import * as l10n from '@vscode/l10n';
import { messageOf, ParleyError } from '../base/errors';
import type { Log } from '../base/log';
import { GitFolder } from './git/gitFolder';
import { findGit, type Git } from './git/gitProcess';
import { holdRef } from './git/holds';
import { realFolder } from './git/repository';
import { gapOf, type ScanLimits } from './git/scan';
import type { FileChange, FileVersion, FolderTree, Snapshot, SnapshotGap } from './model/fileChange';
import type { FolderStates } from './model/folderStore';

const LIMITS: ScanLimits = { timeoutMs: 60_000, maxFile: 20 * 1024 * 1024 };

export interface FolderStatesOptions {
  /** Absolute paths of the session's folders. */
  readonly roots: readonly string[];
  /** Absolute path of the folder with the stores of all folders; made where it is missing. */
  readonly storage: string;
  /** Key of the session, which holds states: a safe name. */
  readonly session: string;
  /** Environment of the user: where git is, and its own configuration. */
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
}

/** Opens the states of folders. Nothing is read or written before the first call. */
export function openFolderStates(options: FolderStatesOptions): FolderStates {
  return new OpenFolderStates(options);
}

class OpenFolderStates implements FolderStates {
  readonly roots: readonly string[];
  readonly #options: FolderStatesOptions;
  readonly #folders = new Map<string, Promise<GitFolder | undefined>>();
  #git: Promise<Git | undefined> | undefined;

  constructor(options: FolderStatesOptions) {
    this.#options = options;
    this.roots = [...new Set(options.roots)];
  }

  async take(signal?: AbortSignal): Promise<Snapshot> {
    const folders: FolderTree[] = [];
    const gaps: SnapshotGap[] = [];
    await Promise.all(
      this.roots.map(async (root) => {
        try {
          const folder = await this.#folder(root);
          if (!folder) gaps.push({ root, why: 'no-git' });
          else folders.push({ root, tree: await folder.take(signal) });
        } catch (error) {
          this.#options.log.warn(`The state of ${root} couldn't be read: ${messageOf(error)}`);
          gaps.push({ root, why: gapOf(error) });
        }
      }),
    );
    return { folders, gaps };
  }

  async changes(before: Snapshot, after: Snapshot, signal?: AbortSignal): Promise<readonly FileChange[]> {
    const found = await Promise.all(
      before.folders.map(async ({ root, tree }) => {
        const later = after.folders.find((one) => one.root === root);
        return later ? (await this.#open(root)).changes(root, tree, later.tree, signal) : [];
      }),
    );
    return found.flat();
  }

  async replaced(snapshot: Snapshot, other: Snapshot, files: readonly string[]): Promise<Snapshot> {
    const folders = await Promise.all(
      snapshot.folders.map(async ({ root, tree }) => {
        const from = other.folders.find((one) => one.root === root);
        const below = new Set(files.flatMap((file) => pathBelow(root, file) ?? []));
        if (!from || below.size === 0) return { root, tree };
        return { root, tree: await (await this.#open(root)).replaced(tree, from.tree, below) };
      }),
    );
    return { ...snapshot, folders };
  }

  async read(root: string, version: FileVersion): Promise<Buffer> {
    if (version.isHashOnly) {
      throw new ParleyError('version-not-kept', l10n.t('The file is too large: this version was not kept.'));
    }
    return (await this.#open(root)).read(version);
  }

  async write(root: string, content: Buffer, mode: FileVersion['mode']): Promise<FileVersion> {
    return (await this.#open(root)).write(content, mode);
  }

  name(): void {}

  async hold(snapshot: Snapshot, name: string): Promise<void> {
    for (const { root, tree } of snapshot.folders) {
      await (await this.#open(root)).hold(tree, holdRef(this.#options.session, name));
    }
  }

  async #open(root: string): Promise<GitFolder> {
    const folder = await this.#folder(root);
    if (folder) return folder;
    throw new ParleyError('state-gone', l10n.t('This version of the file is no longer kept.'));
  }

  #folder(root: string): Promise<GitFolder | undefined> {
    const known = this.#folders.get(root);
    if (known) return known;
    const opened = this.#openFolder(root);
    this.#folders.set(root, opened);
    // A folder that could not be opened is tried again.
    opened.catch(() => this.#folders.delete(root));
    return opened;
  }

  async #openFolder(root: string): Promise<GitFolder | undefined> {
    this.#git ??= findGit(this.#options.env);
    const git = await this.#git;
    if (!git) return undefined;
    const folder = await realFolder(root);
    if (folder === undefined) throw new ParleyError('folder-missing', l10n.t("The folder {0} doesn't exist.", root));
    const store = join(this.#options.storage, createHash('sha256').update(folder).digest('hex').slice(0, 32));
    return GitFolder.open({ git, env: this.#options.env, folder, store, limits: LIMITS });
  }
}

/** The path of a file relative to a folder, with forward slashes; undefined where it is not below it. */
function pathBelow(root: string, file: string): string | undefined {
  const path = relative(root, file);
  if (path === '' || path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)) return undefined;
  return path.split(sep).join('/');
}
