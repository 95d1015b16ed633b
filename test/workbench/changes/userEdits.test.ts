// Files that count as edited by the user: typed and saved in this window, not by agents.
import { strict as assert } from 'node:assert';
import { mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { silentLog } from '../../../src/base/log';
import { givenText } from '../../../src/client/requests/givenTexts';
import { EditorUserEdits } from '../../../src/workbench/changes/userEdits';
import { EditorFiles } from '../../../src/workbench/editor/editorFiles';
import { removeFolder } from '../../support/scratch';
import { hasText, once } from '../editing';

describe("the user's edits", () => {
  let folder: string;
  let now: number;
  let edits: EditorUserEdits;

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-edits-')));
    now = 1000;
    edits = new EditorUserEdits(() => now);
  });

  afterEach(async () => {
    edits.dispose();
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await removeFolder(folder);
  });

  async function open(name: string): Promise<vscode.TextDocument> {
    const path = join(folder, name);
    await writeFile(path, 'one\n');
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(path));
    await vscode.window.showTextDocument(document);
    return document;
  }

  async function type(document: vscode.TextDocument, text: string): Promise<void> {
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), text);
    assert.ok(await vscode.workspace.applyEdit(edit));
  }

  it('include typed text, saved or not', async () => {
    const document = await open('typed.txt');
    await type(document, 'mine ');
    now = 2000;
    assert.deepEqual([...edits.since(1500)], [document.uri.fsPath]);
    await document.save();
    assert.deepEqual([...edits.since(2000)], [document.uri.fsPath]);
    assert.deepEqual([...edits.since(2001)], []);
  });

  it('include created, moved and deleted files and folders', async () => {
    const [made, moved] = ['made.txt', 'moved.txt'].map((name) => vscode.Uri.file(join(folder, name)));
    assert.ok(made && moved);
    const apply = async (change: (edit: vscode.WorkspaceEdit) => void): Promise<readonly string[]> => {
      const edit = new vscode.WorkspaceEdit();
      change(edit);
      assert.ok(await vscode.workspace.applyEdit(edit));
      now += 1000;
      return [...edits.since(now - 1000)];
    };
    assert.deepEqual(await apply((edit) => edit.createFile(made)), [made.fsPath]);
    assert.deepEqual(await apply((edit) => edit.renameFile(made, moved)), [made.fsPath, moved.fsPath]);
    assert.deepEqual(await apply((edit) => edit.deleteFile(moved)), [moved.fsPath]);
  });

  it('exclude what agents write through an open document', async () => {
    const document = await open('written.txt');
    const files = edits.filesForAgents(new EditorFiles({ log: silentLog }));
    await files.writeText(document.uri.fsPath, 'theirs\n');
    await hasText(document, 'theirs\n');
    assert.deepEqual([...edits.since(0)], []);
  });

  it('are not overwritten by an agent that read another text', async () => {
    const document = await open('given.txt');
    const files = edits.filesForAgents(new EditorFiles({ log: silentLog }));
    await type(document, 'mine ');
    await document.save();
    const write = files.writeText(document.uri.fsPath, 'theirs\n', givenText('one\n'));
    await assert.rejects(write, { code: 'file-changed' });
    assert.equal(document.getText(), 'mine one\n');
  });

  it('exclude what a document reloads from disk', async () => {
    const document = await open('followed.txt');
    const followed = once(
      vscode.workspace.onDidChangeTextDocument,
      (event) => event.document === document && event.contentChanges.length > 0,
    );
    await writeFile(document.uri.fsPath, 'changed on disk\n');
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await followed;
    assert.deepEqual([...edits.since(0)], []);
  });
});
