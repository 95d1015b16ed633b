// Bringing files back to an earlier state, on a real disk.
import { strict as assert } from 'node:assert';
import { lstat, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '../../../../src/base/log';
import { openFolderStates } from '../../../../src/changes/folderStates';
import type { FolderStates, Snapshot } from '../../../../src/changes/model/fileChange';
import { AgentEdits } from '../../../../src/changes/restore/agentEdits';
import { Restore, type RestoreOptions } from '../../../../src/changes/restore/restore';
import type { RestorePlan } from '../../../../src/changes/restore/restorePlan';
import { MemoryStates } from '../../../support/changes/memoryStates';
import { NodeFiles } from '../../../support/changes/nodeFiles';
import { removeScratch, scratchFolder } from '../../../support/scratch';

const NEVER = new AbortController().signal;
const silent = (): void => {};

class Stage {
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

type Open = (root: string, storage: string) => FolderStates;

const inMemory: Open = (root) => new MemoryStates([root]);

const byGit: Open = (root, storage) =>
  openFolderStates({
    roots: [root],
    storage,
    session: 's',
    env: { PATH: process.env.PATH, HOME: storage },
    log: silentLog,
  });

async function stage(files: Readonly<Record<string, string>>, open: Open = inMemory): Promise<Stage> {
  const [root, storage] = [await scratchFolder(), await scratchFolder()];
  const s = new Stage(root, join(storage, 'logs', 'restore.json'), open(root, storage));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(s.at(path), '..'), { recursive: true });
    await writeFile(s.at(path), text);
  }
  return s;
}

/** All there is below a folder, folders included. */
async function listing(folder: string, path = ''): Promise<string[]> {
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

describe('the restore of files', () => {
  afterEach(removeScratch);

  for (const [_store, _open] of [
    ['in memory', inMemory],
    ['of git', byGit],
  ] as const) {
  }

  it('skips what the user has edited since, unless requested', async () => {
    const s = await stage({ a: 'a\n', b: 'b\n', c: 'c\n' });
    await s.turn(() => writeFile(s.at('a'), 'A\n'));
    await writeFile(s.at('a'), 'A mine\n');
    await s.turn(async () => {
      await writeFile(s.at('a'), 'A mine 2\n');
      await writeFile(s.at('b'), 'B\n');
    });
    await writeFile(s.at('c'), 'mine\n');
    const plan = await s.plan();
    assert.deepEqual(
      plan.changes.map(({ path }) => path),
      ['b'],
    );
    assert.deepEqual(
      plan.skipped.map(({ change, why }) => [change.path, why]),
      [
        ['a', 'edited'],
        ['c', 'edited'],
      ],
    );
    await s.run(['a']);
    assert.deepEqual(await listing(s.root), ['a 644 a\n', 'b 644 b\n', 'c 644 mine\n']);
  });

  it('never writes a file with unsaved changes, and protected files only if requested', async () => {
    const s = await stage({ a: 'a\n', '.vscode/tasks.json': '{}\n' });
    await s.turn(async () => {
      await writeFile(s.at('a'), 'A\n');
      await writeFile(s.at('.vscode/tasks.json'), '{"x":1}\n');
    });
    s.files.dirty.add(s.at('a'));
    const plan = await s.plan();
    assert.deepEqual(
      plan.skipped.map(({ change, why }) => [change.path, why]),
      [
        ['.vscode/tasks.json', 'protected'],
        ['a', 'unsaved'],
      ],
    );
    const { done } = await s.run(['a', '.vscode/tasks.json']);
    assert.deepEqual(
      done.map(({ path }) => path),
      ['.vscode/tasks.json'],
    );
  });

  it('does not write through a folder that became a link', async () => {
    const s = await stage({ 'sub/a': 'a\n', b: 'b\n' });
    await s.turn(async () => {
      await writeFile(s.at('sub/a'), 'A\n');
      await writeFile(s.at('b'), 'B\n');
    });
    const plan = await s.plan();
    const other = await scratchFolder();
    await writeFile(join(other, 'a'), 'A\n');
    await rm(s.at('sub'), { recursive: true });
    await symlink(other, s.at('sub'));
    const { failed, done } = await s.restore().run(plan, new Set(), NEVER, silent);
    assert.deepEqual(
      failed.map(({ change, why }) => [change.path, why]),
      [['sub/a', 'unsafe']],
    );
    assert.deepEqual(
      done.map(({ path }) => path),
      ['b'],
    );
    assert.deepEqual(await listing(other), ['a 644 A\n']);
  });

  it('writes no file that has changed since the preview, and replaces no folder that contains files', async () => {
    const s = await stage({ a: 'a\n', b: 'b\n' });
    await s.turn(async () => {
      await writeFile(s.at('a'), 'A\n');
      await rm(s.at('b'));
    });
    const plan = await s.plan();
    await writeFile(s.at('a'), 'mine\n');
    await mkdir(s.at('b'));
    await writeFile(s.at('b/other'), 'mine\n');
    const { failed } = await s.restore().run(plan, new Set(), NEVER, silent);
    assert.deepEqual(
      failed.map(({ change, why }) => [change.path, why]),
      [
        ['a', 'changed'],
        ['b', 'in-the-way'],
      ],
    );
    assert.deepEqual(await listing(s.root), ['a 644 mine\n', 'b/', 'b/other 644 mine\n']);
  });

  it('can be finished or reverted after a cancel', async () => {
    const s = await stage({ a: 'a\n', b: 'b\n', c: 'c\n' });
    await s.turn(() => Promise.all(['a', 'b', 'c'].map((path) => writeFile(s.at(path), 'new\n'))));
    const abort = new AbortController();
    const result = await s.restore().run(await s.plan(), new Set(), abort.signal, (done) => {
      if (done === 1) abort.abort();
    });
    assert.deepEqual([result.isCancelled, result.done.length], [true, 1]);
    await assert.rejects(s.run(), { code: 'restore-pending' });
    const pending = (await s.restore().pending())!;
    assert.equal(pending.files, 3);
    await pending.takeBack(NEVER, silent);
    assert.deepEqual(await listing(s.root), ['a 644 new\n', 'b 644 new\n', 'c 644 new\n']);
    assert.equal(await s.restore().pending(), undefined);
  });
});
