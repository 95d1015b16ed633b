// Reviewing an agent's changes in a real VS Code: comparisons, lenses, keep, undo, restore.

import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { SessionSnapshot } from '../../../src/client/view/snapshot';
import type { ParleyApi } from '../../../src/workbench/api';
import { removeFolder } from '../../support/scratch';
import { once, replaceIn, undoIn, until as untilSo } from '../editing';
import { activated, configure, run, scripted } from '../extension';

describe("reviewing an agent's changes", function () {
  this.timeout(90_000);
  let api: ParleyApi;
  let cwd: string;
  let key: string;

  const path = (name: string): string => join(cwd, name);
  const text = (name: string): Promise<string> => readFile(path(name), 'utf8');

  const until = (test: (snapshot: SessionSnapshot) => boolean): Promise<void> =>
    untilSo(() => test(api.snapshot(key)), api.onDidChange);

  const states = (): Record<string, string> =>
    Object.fromEntries(api.snapshot(key).changes.map((change) => [change.path.slice(cwd.length + 1), change.state]));

  /** Returns what the tool calls show, without ids. */
  const calls = (of: string) =>
    api.snapshot(of).entries.flatMap(({ tool }) => (tool ? [{ ...tool, id: undefined }] : []));

  async function send(message: string, ...changed: string[]): Promise<string> {
    const { turnId } = await api.send(key, message);
    await until(() => changed.every((name) => states()[name] === 'unreviewed'));
    return turnId;
  }

  before(async () => {
    api = await activated();
    cwd = await realpath(await mkdtemp(join(tmpdir(), 'parley-workbench-review-')));
    execFileSync('git', ['init', '-q'], { cwd });
    await configure('agents', { disk: scripted(), other: scripted(), missing: { command: 'parley-no-such-program' } });
    await writeFile(path('a.txt'), 'one\ntwo\nthree\nfour\nfive\n');
    await writeFile(path('b.txt'), 'b\n');
    key = await api.openSession({ agent: 'disk', cwd });
    // Files that an agent writes directly before the first snapshot are indistinguishable from
    // earlier ones. Writes through the client wait for it.
    await send(`write ${path('first.txt')} first\\n`, 'first.txt');
    await run('keepAll', { session: key });
  });

  afterEach(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  after(async () => {
    await run('closeSession', { session: key });
    await configure('agents');
    await removeFolder(cwd);
  });

  it('lists written files, and shows them with lenses above each hunk', async () => {
    await send('own a.txt ONE\\ntwo\\nthree\\nfour\\nFIVE\\n\nown new.txt new\\n', 'a.txt', 'new.txt');
    await run('reviewChanges', { session: key });
    assert.match(vscode.window.tabGroups.activeTabGroup.activeTab?.label ?? '', /^Changes: /);
    const document = await vscode.workspace.openTextDocument(path('a.txt'));
    await vscode.window.showTextDocument(document);
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      document.uri,
      10,
    );
    assert.deepEqual(
      lenses.map(({ range, command }) => [range.start.line, command?.title]),
      [
        [0, 'Keep'],
        [0, 'Undo'],
        [4, 'Keep'],
        [4, 'Undo'],
      ],
    );
  });

  it('undoes the hunk at the cursor, notices if the user restores it, and keeps single hunks', async () => {
    const added = (): number | undefined => api.snapshot(key).changes.find((one) => one.path === path('a.txt'))?.added;
    const editor = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(path('a.txt')));
    // VS Code reports cursor positions with a delay, including outdated ones.
    const go = async (to: 'next' | 'previous', line: number): Promise<void> => {
      const moved = once(
        vscode.window.onDidChangeTextEditorSelection,
        ({ textEditor, selections }) => textEditor === editor && selections[0]?.active.line === line,
      );
      await run(`changes.${to}`);
      await moved;
    };
    assert.equal(editor.selection.active.line, 0);
    await go('next', 4);
    await run('changes.undoHunk');
    assert.equal(await text('a.txt'), 'ONE\ntwo\nthree\nfour\nfive\n');
    assert.equal(editor.document.isDirty, false);
    assert.equal(added(), 1);
    await replaceIn(editor.document.uri, 'five', 'FIVE');
    await until(() => added() === 2);
    await editor.document.save();
    await go('previous', 0);
    await run('changes.keepHunk');
    await until(() => added() === 1);
    await go('next', 4);
    await run('changes.keepHunk');
    await until(() => states()['a.txt'] === 'kept');
  });

  it('undoes a file that the agent created, and keeps the rest', async () => {
    await send('own b.txt B\\n', 'b.txt');
    await run('changes.undoFile', { path: path('new.txt') });
    assert.equal(existsSync(path('new.txt')), false);
    await run('keepAll', { session: key });
    await until(() => Object.values(states()).every((state) => state !== 'unreviewed'));
    assert.equal(await text('b.txt'), 'B\n');
  });

  it("undoes a turn, and keeps the user's edits", async () => {
    const turnId = await send('edit b.txt agent\\n\nedit c.txt c\\n', 'b.txt', 'c.txt');
    await writeFile(path('b.txt'), 'mine\nagent\n');
    await run('undoTurn', { session: key, turnId });
    assert.equal(await text('b.txt'), 'mine\nB\n');
    assert.equal(existsSync(path('c.txt')), false);
  });

  it("redoes that undo beside the user's edits, and leaves a file that the user has created since", async () => {
    const { turns } = api.snapshot(key);
    const turnId = turns.at(-1)?.id;
    await writeFile(path('c.txt'), 'mine\n');
    await run('changes.redo', { session: key, turnId });
    assert.deepEqual([await text('b.txt'), await text('c.txt')], ['mine\nagent\n', 'mine\n']);
    await until(() => states()['b.txt'] === 'unreviewed');
    assert.equal(states()['c.txt'], 'undone');
    await rm(path('c.txt'));
    await run('changes.redo', { session: key, path: path('c.txt') });
    assert.equal(await text('c.txt'), 'c\n');
    await assert.rejects(async () => run('changes.redo', { session: key, turnId }), /no undo to redo/);
    await run('undoTurn', { session: key, turnId });
    assert.equal(existsSync(path('c.txt')), false);
  });

  it('offers Redo above an undone hunk', async () => {
    await send('own h.txt 1\\n2\\n3\\n4\\n5\\n', 'h.txt');
    await run('keepAll', { session: key });
    await send('own h.txt ONE\\n2\\n3\\n4\\nFIVE\\n', 'h.txt');
    const document = await vscode.workspace.openTextDocument(path('h.txt'));
    const editor = await vscode.window.showTextDocument(document);
    const lenses = async (): Promise<readonly string[]> => {
      const found = await vscode.commands.executeCommand<vscode.CodeLens[]>(
        'vscode.executeCodeLensProvider',
        document.uri,
        10,
      );
      return found.map(({ range, command }) => `${range.start.line} ${command?.title}`);
    };
    editor.selection = new vscode.Selection(0, 0, 0, 0);
    await run('changes.undoHunk');
    assert.deepEqual(await lenses(), ['0 Redo', '4 Keep', '4 Undo']);
    editor.selection = new vscode.Selection(4, 0, 4, 0);
    await run('changes.undoHunk');
    assert.deepEqual(await lenses(), ['4 Redo']);
    await run('changes.redo', { session: key, path: path('h.txt') });
    await run('changes.redo', { session: key, path: path('h.txt') });
    assert.equal(await text('h.txt'), 'ONE\n2\n3\n4\nFIVE\n');
    assert.deepEqual(await lenses(), ['0 Keep', '0 Undo', '4 Keep', '4 Undo']);
    await run('keepAll', { session: key });
  });

  it('undoes a turn whose end is still being recorded', async () => {
    const { turnId } = await api.send(key, 'edit once.txt once\\n');
    assert.equal(existsSync(path('once.txt')), true);
    await run('undoTurn', { session: key, turnId });
    assert.equal(existsSync(path('once.txt')), false);
  });

  it('restores the files to before a turn, and undoes that', async () => {
    await run('keepAll', { session: key });
    const turnId = await send('edit d.txt d\\n\nedit a.txt again\\n', 'd.txt', 'a.txt');
    await send('run git mv -f d.txt e.txt || mv d.txt e.txt', 'e.txt');
    await run('restoreCheckpoint', { session: key, turnId, ask: false });
    assert.deepEqual([existsSync(path('d.txt')), existsSync(path('e.txt'))], [false, false]);
    assert.equal(await text('a.txt'), 'ONE\ntwo\nthree\nfour\nFIVE\n');
    assert.match(api.snapshot(key).entries.at(-1)?.text ?? '', /Restored \d files/);
    await run('undoRestore', { session: key, ask: false });
    assert.deepEqual([await text('e.txt'), await text('a.txt')], ['d\n', 'again\n']);
    assert.equal(states()['a.txt'], 'unreviewed');
  });

  it('finds the session of the turn that wrote a line, even if it is closed', async () => {
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    assert.ok(folder);
    const file = join(folder.uri.fsPath, 'line-origin.txt');
    const session = await api.openSession({ agent: 'disk', cwd: folder.uri.fsPath });
    await api.send(session, `write ${file} one\\ntwo\\n`);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    const document = await vscode.workspace.openTextDocument(file);
    const at = async (line: number): Promise<string> => {
      const shown = await vscode.window.showTextDocument(document);
      shown.selection = new vscode.Selection(line, 0, line, 0);
      return run<string>('showTurnOfLine', {});
    };
    // While the end of the turn is being recorded.
    assert.equal(await at(1), session);
    const editor = await vscode.window.showTextDocument(document);
    await editor.edit((edit) => edit.insert(new vscode.Position(1, 0), 'mine\n'));
    assert.equal(await at(2), session);
    await assert.rejects(at(1), /No turn that Parley recorded wrote this line/);
    await run('closeSession', { session });
    assert.throws(() => api.snapshot(session));
    assert.equal(await at(0), session);
    assert.match(api.snapshot(session).entries[0]?.text ?? '', /line-origin/);
    await run('closeSession', { session });
    await undoIn(await vscode.window.showTextDocument(document));
    await rm(file);
  });

  it('returns to an earlier message with its text in the composer', async () => {
    const turnId = api.snapshot(key).turns.at(-1)?.id;
    const fresh = await run<string>('editAndResend', { session: key, turnId, ask: false });
    const { entries } = api.snapshot(fresh);
    assert.notEqual(fresh, key);
    assert.equal(entries.filter(({ kind }) => kind === 'user').length, api.snapshot(key).turns.length - 1);
    const notices = entries.filter(({ kind }) => kind === 'notice').map(({ text: said }) => said);
    assert.match(notices.join('\n'), /earlier message.*not undone.*git mv/s);
    assert.equal(existsSync(path('d.txt')), true);
    await run('closeSession', { session: fresh });
  });

  it('continues from before a message in a second session, leaving files and session unchanged', async () => {
    const { turns, entries } = api.snapshot(key);
    const turnId = turns.at(-1)?.id;
    const before = await text('d.txt');
    for (const [how, agent] of [
      ['fork', 'disk'],
      ['retry', 'other'],
    ] as const) {
      const fresh = await run<string>('editAndResend', { session: key, turnId, how, agent });
      const made = api.snapshot(fresh);
      assert.deepEqual([made.agent, made.state, made.turns.length, made.queue], [agent, 'ready', turns.length - 1, []]);
      assert.deepEqual(calls(fresh), calls(key).slice(0, calls(fresh).length));
      assert.equal(made.entries.filter(({ kind }) => kind === 'user').length, turns.length - 1);
      assert.match(made.entries.map(({ text: said }) => said).join('\n'), /earlier message/);
      await run('closeSession', { session: fresh });
    }
    assert.equal(await text('d.txt'), before);
    assert.deepEqual(api.snapshot(key).entries, entries);
  });

  it("shows an agent's changes as they were after another one continues", async () => {
    const fresh = await run<string>('continueWith', { session: key, agent: 'other' });
    assert.ok(calls(fresh).some(({ content }) => content.some(({ type }) => type === 'diff')));
    assert.deepEqual(calls(fresh), calls(key));
    await run('closeSession', { session: fresh });
  });

  it('prepares a review of a turn by another agent, without sending', async () => {
    const turnId = await send('own f.txt reviewed\\n', 'f.txt');
    const fresh = await run<string>('reviewWith', { session: key, turnId, agent: 'other' });
    const made = api.snapshot(fresh);
    assert.deepEqual([made.agent, made.state, made.turns, made.queue], ['other', 'ready', [], []]);
    await run('closeSession', { session: fresh });
    const empty = (await api.send(key, 'hello')).turnId;
    await assert.rejects(async () => run('reviewWith', { session: key, turnId: empty, agent: 'other' }), /no changes/);
  });

  it('closes the comparison of a restore once the user has decided', async () => {
    const turnId = await send('edit d2.txt d\\n', 'd2.txt');
    const titles = (): string[] => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ label }) => label));
    const isShown = (): boolean => titles().some((label) => label.startsWith('Restore files'));
    const restoring = run<boolean>('restoreCheckpoint', { session: key, turnId });
    await untilSo(isShown, vscode.window.tabGroups.onDidChangeTabs);
    for (let isDone = false; !isDone; ) {
      await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
      isDone = await Promise.race([Promise.resolve(restoring).then(() => true), delay(300, false)]);
    }
    assert.deepEqual([existsSync(path('d2.txt')), isShown()], [false, false]);
    await run('undoRestore', { session: key, ask: false });
  });

  it('keeps the message of a session whose agent does not start', async () => {
    const turnId = api.snapshot(key).turns.at(-1)?.id;
    const fresh = await run<string>('editAndResend', { session: key, turnId, how: 'retry', agent: 'missing' });
    assert.equal(api.snapshot(fresh).state, 'failed');
    await run('closeSession', { session: fresh });
  });

  it("continues with another agent in the session's folder", async () => {
    const next = await run<string>('continueWith', { session: key, agent: 'other' });
    await api.send(next, 'own here.txt here\\n');
    assert.equal(await text('here.txt'), 'here\n');
    await run('closeSession', { session: next });
  });
});
