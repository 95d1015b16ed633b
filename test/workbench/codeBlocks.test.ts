// Code blocks in a real VS Code: inserted at the cursor, opened, run in a terminal.
import { strict as assert } from 'node:assert';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Conversation } from '../../src/client/conversation/conversation';
import { CodeBlocks } from '../../src/workbench/editor/codeBlocks';
import { openFile } from './editing';

const { window } = vscode;

describe('code blocks', () => {
  const { showWarningMessage, createTerminal } = window;
  let folder: string;
  let blocks: CodeBlocks;
  let asked: string[];
  let sent: string[];
  let conversation: Conversation;

  before('write a file', async () => {
    const root = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? assert.fail('no workspace');
    folder = join(root, 'code-blocks');
    conversation = { roots: [folder] } as unknown as Conversation;
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'a.txt'), 'one\ntwo\n');
  });

  beforeEach(() => {
    blocks = new CodeBlocks(async () => {});
    asked = [];
    sent = [];
  });

  afterEach(async () => {
    Object.assign(window, { showWarningMessage, createTerminal });
    blocks.dispose();
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  after(() => rm(folder, { recursive: true, force: true }));

  function answer(button: string | undefined): void {
    Object.assign(window, {
      showWarningMessage: async (_text: string, { detail }: vscode.MessageOptions, ...items: { title: string }[]) => {
        asked.push(detail ?? '');
        return items.find(({ title }) => title === button);
      },
      createTerminal: () => ({ show() {}, sendText: (text: string) => sent.push(text) }),
    });
  }

  const run = (text: string) => blocks.use({ action: 'run', text, lang: 'sh' }, conversation);

  it('replace the selection with code, as text', async () => {
    const editor = await openFile(join(folder, 'a.txt'));
    editor.selection = new vscode.Selection(1, 0, 1, 3);
    await blocks.use({ action: 'insert', text: 'a$1\n$TM_FILENAME', lang: 'ts' }, conversation);
    assert.equal(editor.document.getText(), 'one\na$1\n$TM_FILENAME\n');
  });

  it('report where the cursor must be if there is no editor', async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    const closed = new CodeBlocks(async () => {});
    try {
      await assert.rejects(closed.use({ action: 'insert', text: 'x', lang: '' }, conversation), { code: 'no-editor' });
    } finally {
      closed.dispose();
    }
  });

  it('open code in an editor of its language, if VS Code knows it', async () => {
    // Not a language whose server another test configures, as it starts only once.
    await blocks.use({ action: 'open', text: 'x: 1', lang: 'YML' }, conversation);
    assert.equal(window.activeTextEditor?.document.languageId, 'yaml');
    assert.equal(window.activeTextEditor?.document.getText(), 'x: 1');
    await blocks.use({ action: 'open', text: 'x', lang: 'no-such-language' }, conversation);
    assert.equal(window.activeTextEditor?.document.getText(), 'x');
    assert.equal(window.activeTextEditor?.document.languageId, 'plaintext');
  });

  it("save a diagram's picture where the user chooses, next to the project by default", async () => {
    const { showSaveDialog } = window;
    const target = vscode.Uri.file(join(folder, 'saved.svg'));
    let offered: string | undefined;
    Object.assign(window, {
      showSaveDialog: async ({ defaultUri }: vscode.SaveDialogOptions) => {
        offered = defaultUri?.fsPath;
        return target;
      },
    });
    try {
      await blocks.use({ action: 'savePicture', text: '<svg/>', lang: 'svg' }, conversation);
    } finally {
      Object.assign(window, { showSaveDialog });
    }
    assert.equal(offered, join(folder, 'diagram.svg'));
    assert.equal(await readFile(target.fsPath, 'utf8'), '<svg/>');
  });

  it('run what the user has seen and agreed to, without prompts and output', async () => {
    answer('Run');
    await run('$ npm test\nok 1\n$ npm run lint\n');
    assert.deepEqual(asked, ['npm test\nnpm run lint']);
    assert.deepEqual(sent, ['npm test\nnpm run lint']);
  });

  it('run nothing that the user does not agree to', async () => {
    answer(undefined);
    await run('rm -rf build');
    assert.deepEqual(sent, []);
    assert.equal(asked.length, 1);
  });

  it("are not run if they can't be shown in full, or contain control keys", async () => {
    answer('Run');
    const refused = ['', ' \n', 'ls\u0003rm', 'a\tb', 'echo \u202ex', 'x\u200by', 'a\n'.repeat(21), 'x'.repeat(8_001)];
    for (const text of refused)
      await assert.rejects(run(text), { code: 'not-runnable' }, JSON.stringify(text.slice(0, 9)));
    assert.deepEqual([asked, sent], [[], []]);
  });
});
