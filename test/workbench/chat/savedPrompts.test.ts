// Saved prompts of workspace and user in a real VS Code.
import { strict as assert } from 'node:assert';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { SavedPrompts } from '../../../src/workbench/chat/savedPrompts';
import { removeFolder, removeScratch, scratchFolder } from '../../support/scratch';

describe('saved prompts', () => {
  let folder: string;
  let user: string;
  let prompts: SavedPrompts;

  beforeEach(async () => {
    const root = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? assert.fail('no workspace');
    folder = join(root, '.github', 'prompts');
    user = join(await scratchFolder(), 'prompts');
    await Promise.all([folder, user].map((one) => mkdir(one, { recursive: true })));
    const globalStorageUri = vscode.Uri.file(join(user, '..', 'globalStorage', 'parley'));
    prompts = new SavedPrompts({ globalStorageUri });
  });
  afterEach(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await removeFolder(join(folder, '..'));
    await removeScratch();
  });

  const listed = async () => (await prompts.list()).map(({ name, source, text }) => [name, source, text]);

  /** Answers the questions for a name and a location. */
  async function answering(name: string, place: 'workspace' | 'user', run: () => Promise<void>): Promise<void> {
    const { showInputBox, showQuickPick } = vscode.window;
    const answers = {
      showInputBox: async () => name,
      showQuickPick: async (rows: readonly unknown[]) => rows[place === 'user' ? rows.length - 1 : 0],
    };
    Object.assign(vscode.window, answers);
    try {
      await run();
    } finally {
      Object.assign(vscode.window, { showInputBox, showQuickPick });
    }
  }

  it('are the current ones of the workspace and the user', async () => {
    await writeFile(join(folder, 'review.prompt.md'), 'Review it.');
    await writeFile(join(user, 'tests.prompt.md'), 'Write tests.');
    assert.deepEqual(await listed(), [
      ['review', 'workspace', 'Review it.'],
      ['tests', 'user', 'Write tests.'],
    ]);
    await writeFile(join(folder, 'review.prompt.md'), 'Review it well.');
    assert.equal((await listed())[0]?.[2], 'Review it well.');
  });

  it('are empty in an untrusted workspace', async () => {
    await writeFile(join(folder, 'review.prompt.md'), 'Review it.');
    const trust = Object.getOwnPropertyDescriptor(vscode.workspace, 'isTrusted') ?? assert.fail();
    Object.defineProperty(vscode.workspace, 'isTrusted', { value: false, configurable: true });
    try {
      assert.deepEqual(await listed(), []);
    } finally {
      Object.defineProperty(vscode.workspace, 'isTrusted', trust);
    }
  });

  it('are saved from a message under a name, and opened', async () => {
    await answering('mine', 'user', () => prompts.save('Write tests.\n'));
    await answering('ours', 'workspace', () => prompts.save('---\nA line first.'));
    assert.equal(await readFile(join(user, 'mine.prompt.md'), 'utf8'), 'Write tests.\n');
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, join(folder, 'ours.prompt.md'));
    assert.deepEqual(await listed(), [
      ['ours', 'workspace', '---\nA line first.'],
      ['mine', 'user', 'Write tests.'],
    ]);
    await assert.rejects(prompts.save('x'.repeat(40_000)), /too long/);
  });

  it('are not saved through a link that leads out of the workspace', async () => {
    const outside = join(user, 'profile');
    await symlink(outside, join(folder, 'there.prompt.md'));
    await assert.rejects(
      answering('there', 'workspace', () => prompts.save('Text.')),
      /leads out of the workspace/,
    );
    await assert.rejects(readFile(outside), { code: 'ENOENT' });
  });
});
