// A folder in which an agent works, with the review of its changes and the restore to before them,
// on a real disk.
import { lstat, mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '../../../src/base/log';
import { openFolderStates } from '../../../src/changes/folderStates';
import type { FolderStates, Snapshot } from '../../../src/changes/model/fileChange';
import { AgentEdits } from '../../../src/changes/restore/agentEdits';
import { Restore, type RestoreOptions } from '../../../src/changes/restore/restore';
import type { RestorePlan } from '../../../src/changes/restore/restorePlan';
import { SessionReview } from '../../../src/changes/review/sessionReview';
import { scratchFolder } from '../scratch';
import { MemoryStates } from './memoryStates';
import { NodeFiles } from './nodeFiles';

export const NEVER = new AbortController().signal;
export const silent = (): void => {};

export class Stage {
  readonly root: string;
  readonly log: string;
  readonly states: FolderStates;
  readonly files = new NodeFiles();
  readonly agent = new AgentEdits();
  readonly turns: { readonly turnId: string; readonly before: Snapshot; readonly after: Snapshot }[] = [];
  saved: unknown;
  review: SessionReview;

  constructor(root: string, storage: string, open: Open) {
    this.root = root;
    this.log = join(storage, 'logs', 'restore.json');
    this.states = open(root, storage);
    this.review = this.open(undefined);
  }

  open(kept: unknown): SessionReview {
    return new SessionReview({
      states: this.states,
      files: this.files,
      kept,
      save: async (json) => {
        this.saved = JSON.parse(JSON.stringify(json));
      },
    });
  }

  at(path: string): string {
    return join(this.root, path);
  }

  async put(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(this.at(path), '..'), { recursive: true });
      await writeFile(this.at(path), text);
    }
  }

  write(path: string, text: string): Promise<void> {
    return writeFile(this.at(path), text);
  }

  /** Returns what a file has; undefined if there is none. */
  read(path: string): Promise<string | undefined> {
    return readFile(this.at(path), 'utf8').catch(() => undefined);
  }

  async turn(work: () => Promise<unknown>): Promise<void> {
    const before = await this.states.take();
    await work();
    const after = await this.states.take();
    const turn = { turnId: `turn ${this.turns.length}`, before, after };
    const changes = await this.states.changes(before, after);
    this.turns.push(turn);
    this.agent.add(changes);
    await this.review.turnEnded({ ...turn, changes, yours: new Set() });
  }

  restore(more: Partial<RestoreOptions> = {}): Restore {
    const isProtected = async (path: string): Promise<boolean> => path.includes('.vscode');
    return new Restore({ states: this.states, files: this.files, log: this.log, isProtected, ...more });
  }

  async plan(target = this.turns[0]!.before, agent = this.agent): Promise<RestorePlan> {
    return this.restore().plan(target, await this.states.take(), agent);
  }

  async run(include: readonly string[] = []) {
    const all = new Set(include.map((path) => this.at(path)));
    return this.restore().run(await this.plan(), all, NEVER, silent);
  }

  turnTarget(index = 0) {
    return { kind: 'turn' as const, ...this.turns[index]! };
  }

  /** What waits for review, a line for each file. */
  get waiting(): string[] {
    return this.review.files.map(
      ({ path, oldPath, added, removed, state }) =>
        `${oldPath === undefined ? '' : `${oldPath} > `}${path} +${added} -${removed} ${state}`,
    );
  }
}

export type Open = (root: string, storage: string) => FolderStates;

export const inMemory: Open = (root) => new MemoryStates([root]);

export const byGit: Open = (root, storage) => {
  const env = { PATH: process.env.PATH, HOME: storage };
  return openFolderStates({ roots: [root], storage, session: 's', env, log: silentLog });
};

export async function stage(files: Readonly<Record<string, string>> = {}, open: Open = inMemory): Promise<Stage> {
  const made = new Stage(await scratchFolder(), await scratchFolder(), open);
  await made.put(files);
  return made;
}

/** The paths of problems of a restore, each with its reason. */
export const reasonsOf = (problems: readonly { readonly change: { readonly path: string }; readonly why: string }[]) =>
  problems.map(({ change, why }) => [change.path, why]);

/** All there is below a folder, folders included. */
export async function listing(folder: string, path = ''): Promise<string[]> {
  const found: string[] = [];
  for (const name of (await readdir(join(folder, path))).sort()) {
    const one = join(path, name);
    const stat = await lstat(join(folder, one));
    if (stat.isDirectory()) found.push(`${one}/`, ...(await listing(folder, one)));
    else if (stat.isSymbolicLink()) found.push(`${one} -> ${await readlink(join(folder, one))}`);
    else found.push(`${one} ${(stat.mode & 0o777).toString(8)} ${await readFile(join(folder, one), 'latin1')}`);
  }
  return found;
}
