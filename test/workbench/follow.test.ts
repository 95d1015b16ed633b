// The editor follows the agent's reads and writes in a real VS Code.
import { strict as assert } from 'node:assert';
import { mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { silentLog } from '../../src/base/log';
import { SessionModel } from '../../src/session/model/model';
import { Follow } from '../../src/workbench/editor/follow';
import { discard, once, openFile, until } from './editing';

const { window } = vscode;

describe('following the agent', () => {
  let root: string;
  let folder: string;
  let model: SessionModel;
  let follow: Follow;
  let calls = 0;
  let logged = (): void => {};
  const log = { ...silentLog, debug: () => logged() };

  before('write files', async () => {
    root = await realpath(vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? assert.fail('no workspace'));
    folder = join(root, 'followed');
    await mkdir(folder, { recursive: true });
    for (const name of ['a.txt', 'b.txt', 'c.txt']) await writeFile(join(folder, name), 'one\ntwo\nthree\n');
  });

  beforeEach(() => {
    model = new SessionModel();
    const agent = { name: 'Claude' } as never;
    const { event } = new vscode.EventEmitter<string>();
    follow = new Follow({ active: () => ({ model, roots: [root], agent }), onDidActivate: event, log });
  });

  afterEach(async () => {
    follow.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  after(() => rm(folder, { recursive: true, force: true }));

  function touch(path: string, patch: { line?: number; kind?: string; status?: string } = {}): void {
    const { line, kind = 'read', status = 'in_progress' } = patch;
    const locations = [{ path, ...(line !== undefined && { line }) }];
    model.apply(
      {
        type: 'tool_call',
        toolCallId: `c${++calls}`,
        announced: true,
        patch: { title: 'T', kind, status, locations } as never,
      },
      0,
    );
  }

  async function shows(name: string): Promise<vscode.TextEditor> {
    const is = (editor: vscode.TextEditor | undefined): boolean => editor?.document.fileName === join(folder, name);
    await until(() => is(window.activeTextEditor), window.onDidChangeActiveTextEditor);
    return window.activeTextEditor!;
  }

  it('shows the file and line of each call that reads or edits', async () => {
    follow.toggle();
    touch(join(folder, 'a.txt'), { line: 2 });
    assert.equal((await shows('a.txt')).selection.active.line, 1);
    touch('followed/b.txt', { kind: 'edit', status: 'completed' });
    await shows('b.txt');
  });

  it('shows nothing before it is enabled, of other calls, and outside the session', async () => {
    touch(join(folder, 'a.txt'));
    follow.toggle();
    const opened: string[] = [];
    // The oldest VS Code also counts editors of a closed comparison.
    const before = window.visibleTextEditors;
    const listening = window.onDidChangeVisibleTextEditors((editors) => {
      for (const editor of editors) if (!before.includes(editor)) opened.push(editor.document.fileName);
    });
    for (const path of ['/etc/hostname', join(folder, '..', '..', '..', 'outside.txt')]) {
      const refused = new Promise<void>((resolve) => {
        logged = resolve;
      });
      touch(path);
      await refused;
    }
    touch(join(folder, 'c.txt'));
    touch(join(folder, 'a.txt'), { kind: 'search' });
    touch(join(folder, 'a.txt'), { status: 'failed' });
    await shows('c.txt');
    listening.dispose();
    assert.deepEqual([...new Set(opened)], [join(folder, 'c.txt')]);
  });

  it('ends when the user types in an editor', async () => {
    follow.toggle();
    touch(join(folder, 'a.txt'));
    const editor = await shows('a.txt');
    await openFile(join(folder, 'a.txt'));
    const typed = once(window.onDidChangeTextEditorSelection);
    await vscode.commands.executeCommand('type', { text: 'x' });
    await typed;
    touch(join(folder, 'b.txt'));
    follow.toggle();
    touch(join(folder, 'c.txt'));
    await shows('c.txt');
    const names = window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ label }) => label));
    assert.ok(!names.includes('b.txt'), names.join());
    await discard(editor);
  });
});
