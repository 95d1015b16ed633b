// Restores a session's files to an earlier state, and finishes or reverts an interrupted restore.

import * as nodeFs from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { Configured } from '../../base/disposable';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { retryBusy } from '../../base/retryBusy';
import type { FileChange, FileVersion, Snapshot } from '../model/fileChange';
import { FILE_PATH, FILE_VERSION } from '../review/keptReview';
import { isSafePath } from '../review/reviewFile';
import type { AgentEdits } from './agentEdits';
import {
  type Disk,
  deleteOnDisk,
  discardTemporary,
  type FileOnDisk,
  readOnDisk,
  removeEmptyFolders,
  writeOnDisk,
} from './disk';
import { canInclude, type PlanPorts, planRestore, type RestorePlan } from './restorePlan';

type RestoreFailure =
  /** Changed since the plan. */
  | 'changed'
  /** A folder with other files is in its place, or a file in its folder's place. */
  | 'in-the-way'
  | 'not-writable'
  | 'not-kept'
  /** The path leads through a link, or into `.git`. */
  | 'unsafe';

interface FailedChange {
  readonly change: FileChange;
  readonly why: RestoreFailure;
}

export interface RestoreResult {
  readonly done: readonly FileChange[];
  readonly failed: readonly FailedChange[];
  /** The rest can be finished or reverted. */
  readonly isCancelled: boolean;
  readonly target: Snapshot;
  readonly now: Snapshot;
}

type RestoreProgress = (done: number, total: number) => void;

interface PendingRestore {
  readonly target: Snapshot;
  readonly now: Snapshot;
  readonly files: number;
  finish(signal: AbortSignal, progress: RestoreProgress): Promise<RestoreResult>;
  takeBack(signal: AbortSignal, progress: RestoreProgress): Promise<RestoreResult>;
  leave(): Promise<void>;
}

export interface RestoreOptions extends PlanPorts {
  readonly log: string;
  readonly disk?: Disk;
}

/**
 * A file is written atomically, and only if it is as planned; others are in `failed`, unchanged.
 * After a kill or cancel, {@link pending} finishes or reverts the restore, and can itself be
 * interrupted.
 */
export class Restore extends Configured<RestoreOptions> {
  readonly #disk: Disk;
  readonly #log: RestoreLog;

  constructor(options: RestoreOptions) {
    super(options);
    this.#disk = options.disk ?? nodeFs;
    this.#log = new RestoreLog(this.#disk, options.log);
  }

  /** Changes nothing. `now` must be held as long as the restore can be undone. */
  plan(target: Snapshot, now: Snapshot, agentEdits: AgentEdits, signal?: AbortSignal): Promise<RestorePlan> {
    return planRestore(this.options, target, now, agentEdits, signal);
  }

  /**
   * @param include absolute paths of skipped files to restore anyway, if possible
   * @throws ParleyError `restore-pending`; the file system's error if the log can't be written,
   * with nothing changed
   */
  async run(
    plan: RestorePlan,
    include: ReadonlySet<string>,
    signal: AbortSignal,
    progress: RestoreProgress,
  ): Promise<RestoreResult> {
    if (await this.#log.read()) {
      throw new ParleyError('restore-pending', localizable("An earlier restore of files didn't finish."), {
        hint: localizable('Finish or undo it first.'),
      });
    }
    const more = plan.skipped.filter(
      ({ change, why }) => canInclude(why) && include.has(join(change.root, change.path)),
    );
    const { target, now } = plan;
    const logged = { target, now, changes: [...plan.changes, ...more.map(({ change }) => change)] };
    await this.#log.write(logged);
    return this.#applyChanges(logged, logged.changes, signal, progress);
  }

  async pending(): Promise<PendingRestore | undefined> {
    const logged = await this.#log.read();
    if (!logged) return undefined;
    const { target, now, changes } = logged;
    return {
      target,
      now,
      files: changes.length,
      finish: (signal, progress) => this.#applyChanges(logged, changes, signal, progress),
      takeBack: (signal, progress) => this.#applyChanges(logged, changes.map(reversed), signal, progress),
      leave: async () => {
        for (const { root, path, oldPath } of changes) {
          for (const one of [path, oldPath ?? path]) {
            if (await isSafePath(root, one)) await discardTemporary(this.#disk, join(root, one)).catch(() => undefined);
          }
        }
        await this.#log.remove();
      },
    };
  }

  async #applyChanges(
    { target, now }: LoggedRestore,
    changes: readonly FileChange[],
    signal: AbortSignal,
    progress: RestoreProgress,
  ): Promise<RestoreResult> {
    const done: FileChange[] = [];
    const failed: FailedChange[] = [];
    // Deletions first, because they make room for folders. Renames may too, so failures are
    // retried.
    let rest = [...changes].sort((one, two) => Number(one.after !== undefined) - Number(two.after !== undefined));
    for (let isProgress = true; rest.length > 0 && isProgress; ) {
      isProgress = false;
      const later: FileChange[] = [];
      for (const [index, change] of rest.entries()) {
        if (signal.aborted) {
          later.push(...rest.slice(index));
          break;
        }
        const why = await this.#change(change);
        if (why === 'in-the-way' || why === 'unsafe') later.push(change);
        else {
          isProgress = true;
          if (why) failed.push({ change, why });
          else done.push(change);
          progress(done.length + failed.length, changes.length);
        }
      }
      rest = later;
      if (signal.aborted && rest.length > 0) return { done, failed, isCancelled: true, target, now };
    }
    for (const change of rest) failed.push({ change, why: (await isSafe(change)) ? 'in-the-way' : 'unsafe' });
    await this.#log.remove();
    return { done, failed, isCancelled: false, target, now };
  }

  /** Returns a failure, which leaves the files unchanged. */
  async #change(change: FileChange): Promise<RestoreFailure | undefined> {
    const { root, path, oldPath, before, after } = change;
    try {
      const [old, fresh] = [before && (await this.#read(root, before)), after && (await this.#read(root, after))];
      if (oldPath === undefined) return await this.#step(root, path, old, fresh);
      // In this order, because one may be a folder of the other.
      const why = await this.#step(root, oldPath, old, undefined);
      if (why) return why;
      const failure = await this.#step(root, path, undefined, fresh).catch(failureOf);
      if (failure) await this.#step(root, oldPath, undefined, old);
      return failure;
    } catch (error) {
      return failureOf(error);
    }
  }

  async #read(root: string, version: FileVersion): Promise<Content> {
    return { content: await this.options.states.read(root, version), mode: version.mode };
  }

  async #step(
    root: string,
    path: string,
    from: Content | undefined,
    to: Content | undefined,
  ): Promise<RestoreFailure | undefined> {
    const at = join(root, path);
    // A link's target is not a file of this folder.
    if (!(await isSafePath(root, path))) return to ? 'unsafe' : undefined;
    const now = await readOnDisk(this.#disk, at);
    await discardTemporary(this.#disk, at);
    if (now === 'other') return 'changed';
    if (now === 'folder') {
      // It may be an empty leftover.
      if (!to) return undefined;
      if (from) return 'changed';
      await removeEmptyFolders(this.#disk, root, at);
      if ((await readOnDisk(this.#disk, at)) === 'folder') return 'in-the-way';
      await writeOnDisk(this.#disk, at, to.content, to.mode, undefined);
      return undefined;
    }
    if (isContent(now, to)) {
      // A kill may have come before its folders were removed.
      if (!to) await removeEmptyFolders(this.#disk, root, join(at, '..'));
      return undefined;
    }
    if (!isContent(now, from)) return 'changed';
    if (to) await writeOnDisk(this.#disk, at, to.content, to.mode, now);
    else await deleteOnDisk(this.#disk, root, at);
    return undefined;
  }
}

async function isSafe({ root, path, oldPath }: FileChange): Promise<boolean> {
  return (await isSafePath(root, path)) && (oldPath === undefined || isSafePath(root, oldPath));
}

interface Content {
  readonly content: Buffer;
  readonly mode: FileVersion['mode'];
}

function isContent(now: FileOnDisk | undefined, content: Content | undefined): boolean {
  if (!now || !content) return !now && !content;
  const isLink = [now.mode, content.mode].map((mode) => mode === '120000');
  const isMode = now.mode === content.mode || (process.platform === 'win32' && isLink[0] === isLink[1]);
  return isMode && now.content.equals(content.content);
}

function reversed({ path, oldPath, before, after, ...rest }: FileChange): FileChange {
  return {
    ...rest,
    path: oldPath ?? path,
    oldPath: oldPath !== undefined ? path : undefined,
    before: after,
    after: before,
    added: rest.removed,
    removed: rest.added,
  };
}

function failureOf(error: unknown): RestoreFailure {
  if (error instanceof ParleyError) return 'not-kept';
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return ['ENOTDIR', 'EEXIST', 'EISDIR', 'ENOTEMPTY'].includes(String(code)) ? 'in-the-way' : 'not-writable';
}

const COUNT = z.int().check(z.nonnegative());
const SNAPSHOT = z.object({
  folders: z.array(z.object({ root: z.string(), tree: z.string() })),
  gaps: z.array(
    z.object({ root: z.string(), why: z.enum(['no-git', 'too-large', 'repositories', 'timeout', 'failed']) }),
  ),
});
const LOG = z.object({
  version: z.literal(1),
  target: SNAPSHOT,
  now: SNAPSHOT,
  changes: z.array(
    z.object({
      root: z.string(),
      path: FILE_PATH,
      oldPath: z.optional(FILE_PATH),
      before: z.optional(FILE_VERSION),
      after: z.optional(FILE_VERSION),
      added: COUNT,
      removed: COUNT,
      isBinary: z.optional(z.literal(true)),
    }),
  ),
});

/** Written before the first step. Steps are not logged, because the disk shows them. */
interface LoggedRestore {
  readonly target: Snapshot;
  readonly now: Snapshot;
  readonly changes: readonly FileChange[];
}

class RestoreLog {
  readonly #disk: Disk;
  readonly #path: string;

  constructor(disk: Disk, path: string) {
    this.#disk = disk;
    this.#path = path;
  }

  async read(): Promise<LoggedRestore | undefined> {
    const text = await this.#disk.readFile(this.#path, 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    try {
      return LOG.parse(JSON.parse(text)) as LoggedRestore;
    } catch {
      return undefined;
    }
  }

  async write(restore: LoggedRestore): Promise<void> {
    await this.#disk.mkdir(dirname(this.#path), { recursive: true });
    const temporary = `${this.#path}.tmp`;
    await this.#disk.writeFile(temporary, JSON.stringify({ version: 1, ...restore }), { mode: 0o600, flush: true });
    await retryBusy(() => this.#disk.rename(temporary, this.#path));
  }

  async remove(): Promise<void> {
    await this.#disk.unlink(this.#path);
  }
}
