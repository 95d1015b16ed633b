// Sessions in worktrees in a real VS Code: create, compare, apply, commit, remove; staging a turn.

import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import type { ParleyApi } from '../../../src/workbench/api';
import { removeFolder } from '../../support/scratch';
import { hasText, undoIn, until, withoutAutoSave } from '../editing';
import { activated, configure, run, scripted } from '../extension';

describe('sessions in worktrees', function () {
  this.timeout(90_000);
  withoutAutoSave();
  let api: ParleyApi;
  let folder: string;

  const git = (...args: string[]): string => execFileSync('git', args, { cwd: folder }).toString();
  const text = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
  const open = (worktree: string, uncommitted = false): Thenable<string> =>
    run('newSession', { agent: 'disk', cwd: folder, worktree, uncommitted });

  before(async () => {
    api = await activated();
    folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-workbench-worktrees-')));
    git('init', '-q', '-b', 'main');
    git('config', 'user.name', 'A');
    git('config', 'user.email', 'a@example.org');
    await writeFile(join(folder, 'a.txt'), 'one\ntwo\nthree\nfour\nfive\n');
    await writeFile(join(folder, 'other.txt'), 'other\n');
    git('add', '-A');
    git('commit', '-qm', 'first');
    await configure('agents', { disk: scripted(), writer: scripted({ scenes: { '*': 'say Add g' } }) });
  });

  function answered(key: string): Promise<void> {
    return until(() => api.snapshot(key).turns[0]?.stopReason !== undefined, api.onDidChange);
  }

  afterEach(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  after(async () => {
    await configure('agents');
    await removeFolder(folder);
  });

  it("apply the changes of two agents beside the user's, and are removed", async () => {
    await writeFile(join(folder, 'mine.txt'), 'mine\n');
    const [one, two] = [await open('one', true), await open('two')];
    await api.send(one, 'own a.txt ONE\\ntwo\\nthree\\nfour\\nfive\\n\nown new.txt new\\n');
    await api.send(two, 'own a.txt 1\\ntwo\\nthree\\nfour\\nFIVE\\n');
    assert.equal(await text('a.txt'), 'one\ntwo\nthree\nfour\nfive\n');
    const compared = await run<string[]>('compareSessions', { sessions: [one, two] });
    assert.deepEqual(compared.map((path) => path.split(/[\\/]/).at(-1)).sort(), ['a.txt', 'mine.txt', 'new.txt']);
    assert.match(vscode.window.tabGroups.activeTabGroup.activeTab?.label ?? '', /parley\/two ↔ parley\/one/);
    await writeFile(join(folder, 'a.txt'), 'one\ntwo\nthree\nFOUR\nfive\n');
    assert.deepEqual(await run('applyWorktree', { session: one, ask: false }), ['a.txt', 'new.txt']);
    assert.equal(await text('a.txt'), 'ONE\ntwo\nthree\nFOUR\nfive\n');
    assert.equal(await text('new.txt'), 'new\n');
    assert.equal(await run('removeWorktree', { session: one, ask: false }), true);
    assert.deepEqual(git('branch', '--format=%(refname:short)').trim().split('\n'), ['main', 'parley/two']);
    assert.deepEqual(await run('applyWorktree', { session: two, ask: false }), ['a.txt']);
    assert.equal(await text('a.txt'), 'ONE\ntwo\nthree\nFOUR\nFIVE\n');
    assert.equal(await run('removeWorktree', { session: two, ask: false }), true);
    assert.equal(git('worktree', 'list').trim().split('\n').length, 1);
  });

  it('start with a preset', async () => {
    const plain = await run<string>('newSession', { agent: 'demo', cwd: folder });
    await run('setConfigOption', { session: plain, id: 'mode', value: 'auto' });
    await run('savePreset', { session: plain, name: 'By itself' });
    const key = await run<string>('newSession', { preset: 'By itself', cwd: folder, worktree: 'preset' });
    await api.send(key, 'Hello');
    assert.equal(api.snapshot(key).config.find(({ id }) => id === 'mode')?.value, 'auto');
    await run('closeSession', { session: plain });
    assert.equal(await run('removeWorktree', { session: key, ask: false }), true);
  });

  it('revert an apply with Undo', async () => {
    git('checkout', '-q', '--', 'a.txt');
    const key = await open('undone');
    await api.send(key, 'own a.txt one\\nTWO\\nthree\\nfour\\nfive\\n');
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(join(folder, 'a.txt')));
    await hasText(editor.document, 'one\ntwo\nthree\nfour\nfive\n');
    await run('applyWorktree', { session: key, ask: false });
    assert.equal(editor.document.getText(), 'one\nTWO\nthree\nfour\nfive\n');
    await vscode.window.showTextDocument(editor.document);
    await undoIn(editor);
    assert.equal(editor.document.getText(), 'one\ntwo\nthree\nfour\nfive\n');
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await run('removeWorktree', { session: key, ask: false });
  });

  it("keep the changes of agents with the same message apart, including the user's uncommitted ones", async () => {
    await writeFile(join(folder, 'open.txt'), 'open\n');
    const keys = await run<string[]>('askSeveral', {
      agents: ['disk', 'writer'],
      text: 'own open.txt changed\\n',
      cwd: folder,
      worktrees: true,
    });
    const [one = '', two = ''] = keys;
    await Promise.all(keys.map(answered));
    const listed = git('worktree', 'list', '--porcelain').split('\n\n');
    const texts = ['disk', 'writer'].map((name) => {
      const place = listed.find((one) => one.endsWith(`/parley/${name}`)) ?? assert.fail(name);
      return readFileSync(join(place.split('\n')[0]?.slice('worktree '.length) ?? '', 'open.txt'), 'utf8');
    });
    assert.deepEqual([await text('open.txt'), ...texts], ['open\n', 'changed\n', 'open\n']);
    assert.match(api.snapshot(one).title ?? '', /^own open\.txt .* · disk$/);
    assert.deepEqual((await run<string[]>('compareSessions', { sessions: [one, two] })).length, 1);
    for (const session of keys) await run('removeWorktree', { session, ask: false });
    await rm(join(folder, 'open.txt'));
  });

  it('contain ignored files as VS Code is configured, and are removed without asking', async () => {
    await writeFile(join(folder, '.git/info/exclude'), '.env\nother.env\n');
    for (const name of ['.env', 'other.env']) await writeFile(join(folder, name), `${name}\n`);
    const settings = vscode.workspace.getConfiguration('git');
    await settings.update('worktreeIncludeFiles', ['**/.env'], vscode.ConfigurationTarget.Global);
    const key = await open('included');
    await settings.update('worktreeIncludeFiles', undefined, vscode.ConfigurationTarget.Global);
    const [place = ''] = git('worktree', 'list', '--porcelain')
      .split('\n')
      .filter((line) => line.endsWith('-included'));
    const path = place.slice('worktree '.length);
    assert.equal(await readFile(join(path, '.env'), 'utf8'), '.env\n');
    assert.equal(existsSync(join(path, 'other.env')), false);
    assert.equal(await run('removeWorktree', { session: key }), true);
    assert.equal(existsSync(path), false);
  });

  it('commit to the branch, which remains', async () => {
    const key = await open('Commit it');
    await api.send(key, 'own c.txt c\\n');
    const configuration = vscode.workspace.getConfiguration('parley');
    await configuration.update('commitTrailer', 'Assisted-by: {agent}', true);
    assert.equal(await run('commitWorktree', { session: key, message: 'Add c' }), 'parley/commit-it');
    await configuration.update('commitTrailer', undefined, true);
    assert.equal(git('log', '-1', '--format=%B', 'parley/commit-it').trim(), 'Add c\n\nAssisted-by: disk');
    assert.equal(await run('removeWorktree', { session: key }), true);
    assert.equal(git('branch', '--list', 'parley/commit-it').trim(), 'parley/commit-it');
    assert.equal(existsSync(join(folder, 'c.txt')), false);
  });

  it("run the setup before the session starts, open if it fails, and don't apply its files", async () => {
    await configure('worktreeSetup', 'echo "$ROOT_WORKTREE_PATH" > made.txt; exit 3');
    const { showWarningMessage } = vscode.window;
    const shown: string[] = [];
    Object.assign(vscode.window, { showWarningMessage: async (text: string) => void shown.push(text) });
    let key = '';
    try {
      key = await open('set-up');
    } finally {
      Object.assign(vscode.window, { showWarningMessage });
      await configure('worktreeSetup');
    }
    assert.deepEqual(shown, ['The setup of parley/set-up failed with exit code 3. The terminal has its output.']);
    await api.send(key, 'own own.txt own\\n');
    const listed = git('worktree', 'list', '--porcelain').split('\n');
    const place = listed.find((one) => one.endsWith('-set-up'))?.slice('worktree '.length) ?? '';
    assert.equal(readFileSync(join(place, 'made.txt'), 'utf8'), `${folder}\n`);
    assert.deepEqual(await run('applyWorktree', { session: key, ask: false }), ['own.txt']);
    await rm(join(folder, 'own.txt'));
    await run('removeWorktree', { session: key, ask: false });
  });

  it('run the setups of several worktrees in parallel', async () => {
    await configure('worktreeSetup', 'sleep 1; echo > made.txt');
    const keys = await run<string[]>('askSeveral', {
      agents: ['disk', 'writer'],
      text: 'say hi',
      cwd: folder,
      worktrees: true,
    });
    await configure('worktreeSetup');
    await Promise.all(keys.map(answered));
    const places = git('worktree', 'list', '--porcelain').match(/(?<=^worktree ).*-(?:disk|writer)$/gm) ?? [];
    assert.deepEqual(
      places.map((place) => existsSync(join(place, 'made.txt'))),
      [true, true],
    );
    for (const session of keys) await run('removeWorktree', { session, ask: false });
  });

  it('are not removed if an agent starts working while the user is asked', async () => {
    const session = await open('late');
    await api.send(session, 'own lost.txt lost\\n');
    let turn: Promise<unknown> | undefined;
    const { showWarningMessage } = vscode.window;
    Object.assign(vscode.window, {
      showWarningMessage: async (_text: string, _options: unknown, ...items: unknown[]) => {
        turn = api.send(session, 'wait');
        return items[0];
      },
    });
    try {
      await assert.rejects(async () => run('removeWorktree', { session }), /an agent runs there/);
    } finally {
      Object.assign(vscode.window, { showWarningMessage });
    }
    await api.cancel(session);
    await turn;
    assert.equal(await run('removeWorktree', { session, ask: false }), true);
  });

  it('are removed together, naming what is lost, except for those in use', async () => {
    const keys = {
      clean: await open('clean'),
      dirty: await open('dirty'),
      grown: await open('grown'),
      live: await open('live'),
    };
    await api.send(keys.dirty, 'own lost.txt lost\\n');
    await api.send(keys.grown, 'own kept.txt kept\\n');
    await run('commitWorktree', { session: keys.grown, message: 'Add kept' });
    for (const name of ['clean', 'dirty', 'grown'] as const) await run('closeSession', { session: keys[name] });
    await api.send(keys.live, 'say hi');
    await run('newSession', { agent: 'disk', cwd: folder });
    const { showQuickPick, showWarningMessage } = vscode.window;
    const shown: string[] = [];
    Object.assign(vscode.window, {
      showQuickPick: async (items: vscode.QuickPickItem[], { placeHolder }: vscode.QuickPickOptions) => {
        shown.push(placeHolder ?? '', ...items.map(({ label, detail }) => `${label}: ${detail}`));
        return items;
      },
      showWarningMessage: async (text: string, { detail }: vscode.MessageOptions, ...items: { title: string }[]) => {
        shown.push(text, detail ?? '');
        return items[0];
      },
    });
    try {
      assert.equal(await run('removeWorktree'), true);
    } finally {
      Object.assign(vscode.window, { showQuickPick, showWarningMessage });
    }
    assert.deepEqual(shown, [
      'Select the worktrees to remove. Not listed because they are in use: 1',
      'parley/clean: Nothing is lost',
      'parley/dirty: Changes that are not committed: lost.txt',
      'parley/grown: Nothing is lost · The branch stays',
      'Remove 3 worktrees?',
      [
        'parley/clean: nothing is lost',
        'parley/dirty: this is lost:',
        '– Changes that are not committed: lost.txt',
        'parley/grown: nothing is lost',
      ].join('\n'),
    ]);
    const branches = git('branch', '--list', 'parley/*', '--format=%(refname:short)').trim().split('\n');
    assert.deepEqual(
      branches.filter((one) => /clean|dirty|grown|live/.test(one)),
      ['parley/grown', 'parley/live'],
    );
    assert.equal(await run('removeWorktree', { session: keys.live }), true);
  });

  async function applyAfter(session: string, meanwhile: () => Promise<unknown>): Promise<unknown> {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    let isOpen = true;
    const { tabGroups } = vscode.window;
    const shown = until(() => tabGroups.activeTabGroup.tabs.length > 0, tabGroups.onDidChangeTabs);
    const applied = (async () => run('applyWorktree', { session }))().finally(() => {
      isOpen = false;
    });
    applied.catch(() => {}); // it is returned below
    await Promise.race([shown, applied]);
    await meanwhile();
    while (isOpen) await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
    return applied;
  }

  it('apply what exists when the user answers: edits, but nothing undone in the meantime', async () => {
    git('checkout', '-q', '--', 'a.txt');
    const key = await open('Meanwhile');
    await api.send(key, 'own a.txt ONE\\ntwo\\nthree\\nfour\\nfive\\n\nown d.txt d\\n');
    const place = git('worktree', 'list', '--porcelain')
      .split('\n')
      .find((line) => line.endsWith('-meanwhile'));
    const path = (name: string): string => join(place?.slice('worktree '.length) ?? '', name);
    let turn: Promise<unknown> | undefined;
    const working = async (): Promise<void> => {
      turn = api.send(key, 'wait');
    };
    await assert.rejects(applyAfter(key, working), /still working/);
    await api.cancel(key);
    await turn;
    const undone = async (): Promise<void> => {
      await rm(path('d.txt'));
      git('-C', dirname(path('a.txt')), 'checkout', '-q', '--', 'a.txt');
    };
    await assert.rejects(applyAfter(key, undone), /There are no changes to apply/);
    await api.send(key, 'own a.txt ONE\\ntwo\\nthree\\nfour\\nfive\\n');
    const edit = async (name: string): Promise<vscode.TextDocument> => {
      const editor = await vscode.window.showTextDocument(vscode.Uri.file(path(name)), { preview: false });
      await editor.edit((builder) => builder.insert(new vscode.Position(0, 3), '!'));
      assert.ok(editor.document.isDirty);
      return editor.document;
    };
    const refused = async (): Promise<void> => {
      await edit('a.txt');
      await writeFile(path('a.txt'), 'uno\n');
    };
    await assert.rejects(applyAfter(key, refused), /Couldn't save a\.txt/);
    assert.equal(await text('a.txt'), 'one\ntwo\nthree\nfour\nfive\n');
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await api.send(key, 'own a.txt ONE\\ntwo\\nthree\\nfour\\nfive\\n');
    let other: vscode.TextDocument | undefined;
    const edited = async (): Promise<void> => {
      other = await edit('other.txt');
      await edit('a.txt');
    };
    assert.deepEqual(await applyAfter(key, edited), ['a.txt']);
    assert.ok(other?.isDirty, 'what is not applied is not saved');
    await other.save();
    assert.equal(await text('a.txt'), 'ONE!\ntwo\nthree\nfour\nfive\n');
    await run('removeWorktree', { session: key, ask: false });
  });

  interface Repository {
    readonly inputBox: { value: string };
    status(): Promise<void>;
  }

  /**
   * Returns the repository from VS Code's Git extension; the oldest VS Code opens none outside the
   * workspace.
   */
  async function repository(): Promise<Repository | null> {
    const extension = vscode.extensions.getExtension('vscode.git');
    assert.ok(extension);
    const exports = (await extension.activate()) as {
      getAPI(version: 1): { openRepository(uri: vscode.Uri): Promise<Repository | null> };
    };
    return exports.getAPI(1).openRepository(vscode.Uri.file(folder));
  }

  it('stage exactly what a turn changed', async function () {
    if (!(await repository())) this.skip();
    const key = await api.openSession({ agent: 'disk', cwd: folder });
    const first = await api.send(key, 'say The state before the first change is known after this turn');
    await assert.rejects(async () => run('stageTurn', { session: key, turnId: first.turnId }), /changed no file/);
    await writeFile(join(folder, 'mine.txt'), 'mine\n');
    const { turnId } = await api.send(key, 'own f.txt f\\n');
    await run('stageTurn', { session: key, turnId });
    assert.equal(git('diff', '--cached', '--name-only'), 'f.txt\n');
    await run('closeSession', { session: key });
  });

  it('let an agent draft the commit message, without replacing what the user has typed', async function () {
    const found = await repository();
    if (!found) return this.skip();
    git('reset', '-q');
    await writeFile(join(folder, 'g.txt'), 'g\n');
    git('add', 'g.txt');
    await found.status();
    const key = await api.openSession({ agent: 'writer', cwd: folder });
    const draft = (): Thenable<string> => run('draftCommitMessage', { rootUri: vscode.Uri.file(folder) });
    assert.equal(await draft(), 'Add g');
    assert.equal(found.inputBox.value, 'Add g');
    assert.deepEqual(api.snapshot(key).turns, [], 'it is asked in a session of its own');
    found.inputBox.value = 'mine';
    assert.equal(await draft(), 'Add g');
    assert.equal(found.inputBox.value, 'mine');
    found.inputBox.value = '';
    await run('closeSession', { session: key });
  });
});
