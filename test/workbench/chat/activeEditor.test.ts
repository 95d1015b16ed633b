// The active editor as context for a message, in a real VS Code.
import { strict as assert } from 'node:assert';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { MentionView } from '../../../src/panel/contract';
import { ActiveEditor } from '../../../src/workbench/chat/activeEditor';
import { removeFolder } from '../../support/scratch';
import { once, openFile, until } from '../editing';

describe('the active editor as context', () => {
  let folder: string;
  let active: ActiveEditor;

  before('write files', async () => {
    const root = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? assert.fail('no workspace');
    folder = join(root, 'active');
    await mkdir(folder, { recursive: true });
    for (const name of ['one.ts', 'two.ts', 'three.ts']) await writeFile(join(folder, name), 'a\nb\nc\n');
  });

  beforeEach(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    active = new ActiveEditor();
  });

  afterEach(() => active.dispose());

  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await removeFolder(folder);
  });

  async function offered(label: string | undefined): Promise<MentionView | undefined> {
    await until(() => active.view?.label === label, active.onDidChange);
    return active.view;
  }

  it('offers the file, or its selection', async () => {
    assert.equal(active.view, undefined);
    const editor = await openFile(join(folder, 'one.ts'));
    assert.deepEqual(await offered('active/one.ts'), { id: 'active', kind: 'file', label: 'active/one.ts' });
    assert.deepEqual(
      (await active.attachments()).map(({ forms }) => forms[0]?.type),
      ['resource_link'],
    );
    editor.selection = new vscode.Selection(0, 0, 2, 0);
    assert.deepEqual(await offered('active/one.ts:1–2'), {
      id: 'active',
      kind: 'selection',
      label: 'active/one.ts:1–2',
    });
    const [attachment] = await active.attachments();
    assert.equal(attachment?.label, 'active/one.ts:1–2');
    assert.partialDeepStrictEqual(attachment?.forms[0], { type: 'resource', text: 'a\nb\n' });
  });

  it('remains available while covered by the chat, until closed', async () => {
    const three = await openFile(join(folder, 'three.ts'));
    await vscode.window.showTextDocument(three.document, { preview: false });
    await openFile(join(folder, 'two.ts'));
    await offered('active/two.ts');
    const left = once(vscode.window.onDidChangeActiveTextEditor, (editor) => editor === undefined);
    const panel = vscode.window.createWebviewPanel('parley.test', 'Chat', vscode.ViewColumn.Active);
    await left;
    assert.equal(active.view?.label, 'active/two.ts');
    for (const { tabs } of vscode.window.tabGroups.all)
      await vscode.window.tabGroups.close(tabs.filter(({ label }) => label === 'two.ts'));
    await offered(undefined);
    panel.dispose();
    await offered('active/three.ts');
  });

  it('offers nothing outside the workspace', async () => {
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: 'secret' }));
    await offered(undefined);
    assert.deepEqual(await active.attachments(), []);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });
});
