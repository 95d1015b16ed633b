// The log of a restore that runs: with it, one that was killed is finished or taken back.
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { retryBusy } from '../../base/retryBusy';
import type { FileChange, Snapshot } from '../model/fileChange';
import { FILE_PATH, FILE_VERSION } from '../review/keptReview';
import type { Disk } from './disk';

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

/** Logged before the first step. Steps are not logged: the disk shows which were made. */
export interface LoggedRestore {
  readonly target: Snapshot;
  readonly now: Snapshot;
  readonly changes: readonly FileChange[];
}

export class RestoreLog {
  readonly #disk: Disk;
  readonly #path: string;

  constructor(disk: Disk, path: string) {
    this.#disk = disk;
    this.#path = path;
  }

  /** Undefined if there is none, or it is unreadable. */
  async read(): Promise<LoggedRestore | undefined> {
    const text = await this.#disk.readFile(this.#path, 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    try {
      return LOG.parse(JSON.parse(text)) as LoggedRestore;
    } catch {
      return undefined;
    }
  }

  /** @throws the file system's error: nothing is restored then */
  async write(restore: LoggedRestore): Promise<void> {
    await this.#disk.mkdir(dirname(this.#path), { recursive: true });
    const beside = `${this.#path}.tmp`;
    await this.#disk.writeFile(beside, JSON.stringify({ version: 1, ...restore }), { mode: 0o600, flush: true });
    await retryBusy(() => this.#disk.rename(beside, this.#path));
  }

  async remove(): Promise<void> {
    await this.#disk.unlink(this.#path);
  }
}
