// Applying code to a file: which file, what is shown, and what is written.
import { strict as assert } from 'node:assert';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commands, Selection, TabInputTextDiff, Uri, window, workspace } from 'vscode';
import { silentLog } from '../../../src/base/log';
import type { Conversation } from '../../../src/client/conversation/conversation';
import { FileStore } from '../../../src/client/sharing/fileStore';
import { CodeBlocks } from '../../../src/workbench/editor/codeBlocks';
import { EditorFiles } from '../../../src/workbench/editor/editorFiles';
import { Proposals } from '../../../src/workbench/editor/proposals';
import { ReadOnlyTexts } from '../../../src/workbench/editor/readOnlyTexts';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { openFile, replaceIn, withoutAutoSave } from '../editing';

describe('applying code to a file', () => {
  const { showQuickPick } = window;
  const isTrusted = Object.getOwnPropertyDescriptor(workspace, 'isTrusted');
  let folder: string;
  let outside: string;
  let blocks: CodeBlocks;
  let proposals: Proposals;
  let texts: ReadOnlyTexts;
  let conversation: Conversation;

  withoutAutoSave();

  before('make folders', async () => {
    folder = join(workspace.workspaceFolders?.[0]?.uri.fsPath ?? assert.fail('no workspace'), 'apply-code');
    outside = await mkdtemp(join(tmpdir(), 'parley-outside-'));
    conversation = { key: 'A', agent: { name: 'Claude' }, roots: [folder] } as unknown as Conversation;
    texts = new ReadOnlyTexts('parley-test-code-diff', 10);
  });

  beforeEach(async () => {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'a.ts'), 'one\r\ntwo\r\nthree\r\n');
    proposals = new Proposals({
      store: new FileStore(await scratchFolder()),
      files: new EditorFiles({ log: silentLog }),
      conversations: { find: () => undefined, onDidChange: () => ({ dispose: () => undefined }) },
      texts,
      scheme: 'parley-test-code',
    });
    blocks = new CodeBlocks((session, path, change) => proposals.propose(session, path, change));
    await commands.executeCommand('workbench.action.closeAllEditors');
  });

  afterEach(async () => {
    Object.assign(window, { showQuickPick });
    if (isTrusted) Object.defineProperty(workspace, 'isTrusted', isTrusted);
    await commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await commands.executeCommand('workbench.action.closeAllEditors');
    blocks.dispose();
    proposals.dispose();
    await rm(folder, { recursive: true, force: true });
    await removeScratch();
  });

  after(async () => {
    texts.dispose();
    await rm(outside, { recursive: true, force: true });
  });

  const apply = (text: string, path?: string, lang = 'ts') =>
    blocks.use({ action: 'apply', text, lang, ...(path !== undefined && { path }) }, conversation);

  async function shown() {
    const tab = window.tabGroups.activeTabGroup.activeTab;
    assert.ok(tab?.input instanceof TabInputTextDiff, `no comparison: ${tab?.label}`);
    const { original, modified } = tab.input;
    const text = (await workspace.openTextDocument(modified)).getText();
    return { label: tab.label, left: original, right: modified, text };
  }
  const comparisons = () =>
    window.tabGroups.all.flatMap(({ tabs }) => tabs).filter(({ input }) => input instanceof TabInputTextDiff).length;
  const onDisk = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');

  it("writes on request, as edited by the user, with the file's line endings", async () => {
    await apply('one\nzwei', 'a.ts');
    const { label, left, right, text } = await shown();
    assert.match(label, /a\.ts/);
    assert.equal(left.toString(), Uri.file(join(folder, 'a.ts')).toString());
    assert.equal(text, 'one\nzwei\n');
    assert.equal(await onDisk('a.ts'), 'one\r\ntwo\r\nthree\r\n');
    await replaceIn(right, 'zwei', 'deux');
    await proposals.use(right);
    assert.equal(await onDisk('a.ts'), 'one\r\ndeux\r\n');
    assert.equal(comparisons(), 0);
    await assert.rejects(proposals.use(right), { code: 'no-proposal' });
  });

  it('uses the file named in a title, a comment or a diff header', async () => {
    await openFile(join(folder, 'a.ts'));
    const named: [text: string, path?: string | undefined, lang?: string][] = [
      ['x', 'lib/new.ts'],
      ['x', './lib/new.ts:12'],
      ['x', join(folder, 'lib/new.ts')],
      ['// lib/new.ts\nx'],
      ['--- /dev/null\n+++ b/lib/new.ts\n@@ -0,0 +1 @@\n+x', undefined, 'diff'],
    ];
    for (const [text, path, lang] of named) {
      await apply(text, path, lang);
      assert.equal((await shown()).right.fsPath, join(folder, 'lib/new.ts'), text);
    }
    const { left, right } = await shown();
    assert.equal((await workspace.openTextDocument(left)).getText(), '');
    await proposals.use(right);
    assert.equal(await onDisk('lib/new.ts'), 'x\n');
  });

  it("uses the active editor's file and selection if no file is named", async () => {
    const editor = await openFile(join(folder, 'a.ts'));
    editor.selection = new Selection(1, 0, 2, 0);
    await apply('// see b.ts\nzwei', 'Example');
    const { right, text } = await shown();
    assert.equal(text, 'one\n// see b.ts\nzwei\nthree\n');
    await proposals.use(right);
    assert.equal(await onDisk('a.ts'), 'one\r\n// see b.ts\r\nzwei\r\nthree\r\n');
  });

  it('uses a file that the user picks if there is no other', async () => {
    let offered: readonly { label: string }[] = [];
    const answer = (take: boolean): void => {
      Object.assign(window, {
        showQuickPick: async (items: readonly { label: string }[]) => {
          offered = items;
          return take ? items[0] : undefined;
        },
      });
    };
    answer(false);
    await apply('x');
    assert.deepEqual(
      offered.map(({ label }) => label),
      ['apply-code/a.ts'],
    );
    assert.equal(comparisons(), 0);
    await writeFile(join(outside, 'other.ts'), 'mine');
    await openFile(join(outside, 'other.ts'));
    answer(true);
    await apply('x');
    const { right, text } = await shown();
    assert.equal(right.fsPath, join(folder, 'a.ts'));
    assert.equal(text, 'one\ntwo\nthree\nx\n');
  });

  it('inserts at the cursor instead of replacing a file that the code does not name', async () => {
    for (const [line, character, made] of [
      [1, 0, 'one\nx\ntwo\nthree\n'],
      [1, 2, 'one\ntwo\nx\nthree\n'],
      [3, 0, 'one\ntwo\nthree\nx\n'],
    ] as const) {
      const editor = await openFile(join(folder, 'a.ts'));
      editor.selection = new Selection(line, character, line, character);
      await apply('x');
      const { label, text } = await shown();
      assert.equal(text, made);
      assert.match(label, /apply code of Claude/);
      await commands.executeCommand('workbench.action.closeActiveEditor');
    }
  });

  it('applies a patch if its lines occur exactly once', async () => {
    const patch = '--- a/a.ts\n+++ b/a.ts\n@@ -7,3 +7,3 @@\n one\n-two\n+zwei\n three';
    await apply(patch, undefined, 'diff');
    const { right, text } = await shown();
    assert.equal(text, 'one\nzwei\nthree\n');
    await proposals.use(right);
    assert.equal(await onDisk('a.ts'), 'one\r\nzwei\r\nthree\r\n');
    await assert.rejects(apply(patch, undefined, 'diff'), { code: 'change-not-placed' });
  });

  it('uses no file outside the folders, whatever its name and wherever links lead', async () => {
    await openFile(join(folder, 'a.ts'));
    await writeFile(join(outside, 'secret.ts'), 'mine');
    await symlink(outside, join(folder, 'out'));
    await symlink(join(outside, 'fresh.ts'), join(folder, 'fresh.ts'));
    const refused = [
      '../../etc/passwd',
      '/etc/passwd',
      'file:///etc/passwd',
      'file://server/share/a.ts',
      '//server/share/a.ts',
      '\\\\server\\share\\a.ts',
      'C:\\Windows\\a.ts',
      'vscode://settings/a.ts',
      'lib/a\nb.ts',
      'lib/\u202esl.ts',
      'lib/a\u0000.ts',
      '.git/config',
      'sub/.GIT/hooks/pre-commit',
      join(outside, 'secret.ts'),
      'out/secret.ts',
      'out/new.ts',
      'fresh.ts',
    ];
    for (const path of refused) await assert.rejects(apply('x', path), { code: 'file-outside' }, JSON.stringify(path));
    assert.equal(comparisons(), 0);
    assert.equal(await readFile(join(outside, 'secret.ts'), 'utf8'), 'mine');
  });

  it('does not write if the path has become a link that leads out', async () => {
    await apply('x', 'lib/new.ts');
    const { right } = await shown();
    await symlink(outside, join(folder, 'lib'));
    await assert.rejects(proposals.use(right), { code: 'file-outside' });
    await assert.rejects(readFile(join(outside, 'new.ts')), { code: 'ENOENT' });
  });

  it("uses unsaved text as the file's text", async () => {
    await writeFile(join(folder, 'dirty.ts'), 'one\r\ntwo\r\nthree\r\n');
    const editor = await openFile(join(folder, 'dirty.ts'));
    await replaceIn(editor.document.uri, 'three', 'drei');
    await apply('@@ -1 +1 @@\n-two\n+zwei', 'dirty.ts', 'diff');
    const { right, text } = await shown();
    assert.equal(text, 'one\nzwei\ndrei\n');
    assert.equal(await onDisk('dirty.ts'), 'one\r\ntwo\r\nthree\r\n');
    await replaceIn(editor.document.uri, 'one', 'eins');
    await assert.rejects(proposals.use(right), { code: 'file-changed' });
    assert.equal(editor.document.getText(), 'eins\r\ntwo\r\ndrei\r\n');
    await replaceIn(editor.document.uri, 'eins', 'one');
    await proposals.use(right);
    assert.equal(await onDisk('dirty.ts'), 'one\r\nzwei\r\ndrei\r\n');
  });

  it('does nothing in an untrusted workspace', async () => {
    await apply('x', 'a.ts');
    const { right } = await shown();
    Object.defineProperty(workspace, 'isTrusted', { value: false, configurable: true });
    await assert.rejects(apply('y', 'a.ts'), { code: 'workspace-untrusted' });
    await assert.rejects(proposals.use(right), { code: 'workspace-untrusted' });
    assert.equal(await onDisk('a.ts'), 'one\r\ntwo\r\nthree\r\n');
  });
});
