// A folder whose files an agent changes and a restore brings back, on a real disk.
import { lstat, mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '../../../../src/base/log';
import { openFolderStates } from '../../../../src/changes/folderStates';
import type { FolderStates, Snapshot } from '../../../../src/changes/model/fileChange';
import { AgentEdits } from '../../../../src/changes/restore/agentEdits';
import { Restore, type RestoreOptions } from '../../../../src/changes/restore/restore';
import type { RestorePlan } from '../../../../src/changes/restore/restorePlan';
import { MemoryStates } from '../../../support/changes/memoryStates';
import { NodeFiles } from '../../../support/changes/nodeFiles';
import { scratchFolder } from '../../../support/scratch';

export const NEVER = new AbortController().signal;
export const silent = (): void => {};

export class Stage {
  readonly root: string;
  readonly log: string;
  readonly states: FolderStates;
  readonly files = new NodeFiles();
  readonly agent = new AgentEdits();
  first: Snapshot | undefined;

  constructor(root: string, log: string, states: FolderStates) {
    this.root = root;
    this.log = log;
    this.states = states;
  }

  at(path: string): string {
    return join(this.root, path);
  }

  restore(more: Partial<RestoreOptions> = {}): Restore {
    const isProtected = async (path: string): Promise<boolean> => path.includes('.vscode');
    return new Restore({ states: this.states, files: this.files, log: this.log, isProtected, ...more });
  }

  async turn(work: () => Promise<unknown>): Promise<void> {
    const before = await this.states.take();
    this.first ??= before;
    await work();
    this.agent.add(await this.states.changes(before, await this.states.take()));
  }

  async plan(target = this.first!, agent = this.agent): Promise<RestorePlan> {
    return this.restore().plan(target, await this.states.take(), agent);
  }

  async run(include: readonly string[] = []) {
    const all = new Set(include.map((path) => this.at(path)));
    return this.restore().run(await this.plan(), all, NEVER, silent);
  }
}

export type Open = (root: string, storage: string) => FolderStates;

export const inMemory: Open = (root) => new MemoryStates([root]);

export const byGit: Open = (root, storage) =>
  openFolderStates({
    roots: [root],
    storage,
    session: 's',
    env: { PATH: process.env.PATH, HOME: storage },
    log: silentLog,
  });

export async function stage(files: Readonly<Record<string, string>>, open: Open = inMemory): Promise<Stage> {
  const [root, storage] = [await scratchFolder(), await scratchFolder()];
  const s = new Stage(root, join(storage, 'logs', 'restore.json'), open(root, storage));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(s.at(path), '..'), { recursive: true });
    await writeFile(s.at(path), text);
  }
  return s;
}

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
