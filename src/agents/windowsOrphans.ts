// Lists the processes started on Windows in a file, so that the next start can end those that
// outlived their window. On other systems, the orphan guard does that.
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { messageOf } from '../base/errors';
import type { Log } from '../base/log';
import { endBorn, isBorn, listWindowsProcesses, ownBirth, type ProcessBirth } from './windowsProcesses';

const MAX_LIST_BYTES = 64 * 1024;

const birth = z.object({ pid: z.int().check(z.positive()), after: z.number(), before: z.number() });
const list = z.object({ host: z.string(), owner: birth, started: z.array(birth) });

export class WindowsOrphans {
  readonly #folder: string;
  readonly #log: Log;
  readonly #owner = ownBirth();
  readonly #started = new Map<number, ProcessBirth>();
  #writing: Promise<void> | undefined;
  #needsWrite = false;

  constructor(folder: string, log: Log) {
    this.#folder = folder;
    this.#log = log;
  }

  add(birth: ProcessBirth): void {
    this.#started.set(birth.pid, birth);
    this.#save();
  }

  delete(pid: number): void {
    if (this.#started.delete(pid)) this.#save();
  }

  get written(): Promise<void> {
    return this.#writing ?? Promise.resolve();
  }

  /** Ends leftovers of dead processes and removes their lists. Never rejects. */
  async endOthers(): Promise<void> {
    try {
      const own = this.#file;
      const names = await readdir(this.#folder).catch(() => []);
      const files = names.map((name) => join(this.#folder, name)).filter((file) => file !== own);
      const lists = await Promise.all(files.map(async (file) => ({ file, found: await readList(file) })));
      if (lists.every(({ found }) => found === undefined)) return;
      const rows = await listWindowsProcesses();
      // Without a process list, no owner is known to be dead.
      if (rows.length === 0) return;
      for (const { file, found } of lists) {
        if (found === undefined || rows.some((row) => isBorn(row, found.owner))) continue;
        this.#log.info(`Ending what process ${found.owner.pid} has left`);
        await endBorn(found.started);
        await rm(file, { force: true });
      }
    } catch (error) {
      this.#log.warn(`What earlier windows have left could not be looked for: ${messageOf(error)}`);
    }
  }

  get #file(): string {
    return join(this.#folder, `${this.#owner.pid}-${Math.round(this.#owner.after)}.json`);
  }

  #save(): void {
    this.#needsWrite = true;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  async #write(): Promise<void> {
    try {
      while (this.#needsWrite) {
        this.#needsWrite = false;
        const started = [...this.#started.values()];
        if (started.length === 0) await rm(this.#file, { force: true });
        else {
          await mkdir(this.#folder, { recursive: true, mode: 0o700 });
          await writeFile(this.#file, JSON.stringify({ host: hostname(), owner: this.#owner, started }), {
            mode: 0o600,
          });
        }
      }
    } catch (error) {
      this.#log.warn(`Agents could outlive a crash of this window: ${messageOf(error)}`);
    }
  }
}

async function readList(file: string): Promise<z.infer<typeof list> | undefined> {
  try {
    const found = await stat(file);
    if (!found.isFile() || found.size > MAX_LIST_BYTES) return undefined;
    const parsed = list.parse(JSON.parse(await readFile(file, 'utf8')));
    // A roaming profile may be in use on two machines.
    return parsed.host === hostname() ? parsed : undefined;
  } catch {
    return undefined;
  }
}
